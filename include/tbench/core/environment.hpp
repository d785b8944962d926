// The machine, the software and the build that a result was made with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tbench {

struct GpuFacts {
  std::string name;
  std::string uuid;                // empty in anonymous files, and if several GPUs measured
  std::string compute_capability;  // "9.0"
  std::int64_t sm_count{};
  std::int64_t memory_bytes{};
  std::int64_t l2_bytes{};
  std::optional<bool> ecc;
  std::optional<bool> mig;
  std::optional<double> power_limit_w;
  std::optional<double> max_sm_clock_hz;
  std::optional<std::int64_t> other_processes;  // other compute processes on the GPU at the start
  bool operator==(const GpuFacts&) const = default;
};

/// The share of the host's CPUs that the operating system grants a process.
struct CpuLimits {
  std::string affinity;         // CPUs that the process may run on, in Linux's list format: "0-7,16"
  std::optional<double> quota;  // CPU seconds per second that its control groups allow; absent if unlimited
  bool operator==(const CpuLimits&) const = default;
};

/// One of the machines that measured the cases of a file: the facts that may differ between machines of the same model.
struct Machine {
  std::string gpu_uuid;  // empty without a GPU, and in anonymous files
  std::string cpu_name;
  std::int64_t cpu_cores{};
  std::string date;  // start of its first run for the file, ISO 8601
  bool operator==(const Machine&) const = default;
};

struct Environment {
  std::optional<GpuFacts> gpu;  // absent if the cases ran on the CPU
  std::string cpu_name;
  std::int64_t cpu_cores{};
  std::optional<CpuLimits> cpu_limits;  // absent in older records, which lack the field
  std::string operating_system;
  std::string clock_policy{"default"};  // as the user states it (--tb_clock_policy); it cannot be read back
  /// Library and driver versions by name: driver, cuda_runtime, cublas, cudnn, libtorch, google_benchmark and compiler.
  std::map<std::string, std::string> versions;
  std::string commit;          // of the sources, with "-dirty" if they were changed; "unknown" outside a checkout
  std::string sources_digest;  // SHA-256 over all compiled sources
  std::string diff_digest;     // SHA-256 of the changes since the commit; empty if no changes are known
  std::string build_type;
  std::string compile_options;  // options for C++ and CUDA, and the target GPUs; empty in older files
  std::string variant;          // TBENCH_VARIANT, a name for a build that no other field distinguishes; often empty
  std::string date;             // start of the run, ISO 8601
  /// The machines that measured, in the order in which they began; each record names its own (Record::machine). Empty
  /// if there was one, which the other fields describe.
  std::vector<Machine> machines{};
  bool operator==(const Environment&) const = default;
};

/// Returns twelve digits of the commit (or of the sources' digest, if the commit is unknown) and the variant:
/// `29971fb85631-dirty (no_l2)`.
[[nodiscard]] std::string build_name(const Environment& environment);

/// Returns why the results come from two different builds, or nullopt if they come from one. Compile options are
/// compared only if both sides record them.
[[nodiscard]] std::optional<std::string> build_difference(const Environment& a, const Environment& b);

/// Returns a key that is equal for all results of the same build.
[[nodiscard]] std::string build_key(const Environment& environment);

/// Returns why results from `a` and `b` must not share one file (`--tb_resume`): another GPU model, build
/// (build_difference() and the versions) or clock policy. Returns nullopt if they may. Serial numbers and dates do not
/// matter; add_machines() keeps them apart.
[[nodiscard]] std::optional<std::string> incompatibility(const Environment& a, const Environment& b);

/// Returns why the results of a worker process must not be combined with an earlier worker's results of the same run:
/// an incompatibility(), another commit, or another GPU of the same model. Returns nullopt if they may.
[[nodiscard]] std::optional<std::string> worker_difference(const Environment& first, const Environment& now);

/// Returns the machines that measured: `machines` or, if it is empty, the one that the other fields describe.
[[nodiscard]] std::vector<Machine> machines_of(const Environment& environment);

/// Returns the UUID of a machine's GPU, or an empty text if it is unknown.
/// @param machine  index of the machine in machines_of(environment)
[[nodiscard]] std::string gpu_uuid(const Environment& environment, std::int64_t machine);

/// Returns the UUIDs of the GPUs that measured, each once, in order; without those that are unknown.
[[nodiscard]] std::vector<std::string> gpu_uuids(const Environment& environment);

/// Adds the machines of `other` to the machines of `environment`. With several GPUs, the field `gpu->uuid` becomes
/// empty.
/// @return  for each machine of `other`, its index among the machines that `environment` now has
std::vector<std::int64_t> add_machines(Environment& environment, const Environment& other);

}  // namespace tbench
