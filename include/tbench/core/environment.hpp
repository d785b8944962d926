// The machine, the software and the build that a result was made with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tbench {

struct GpuFacts {
  std::string name;
  std::string uuid;
  std::string compute_capability;  // "9.0"
  std::int64_t sm_count{};
  std::int64_t memory_bytes{};
  std::int64_t l2_bytes{};
  std::optional<bool> ecc;
  std::optional<bool> mig;
  std::optional<double> power_limit_w;
  std::optional<double> max_sm_clock_hz;
  std::optional<std::int64_t> other_processes;  // compute processes on it at the start, besides our own
  bool operator==(const GpuFacts&) const = default;
};

/// The CPUs of its host that the kernel lets a process use.
struct CpuLimits {
  std::string affinity;         // CPUs that it may run on, as Linux lists them: "0-7,16"
  std::optional<double> quota;  // CPU time per time that its control groups allow; absent: any
  bool operator==(const CpuLimits&) const = default;
};

struct Environment {
  std::optional<GpuFacts> gpu;  // absent: the cases ran on the CPU
  std::string cpu_name;
  std::int64_t cpu_cores{};
  std::optional<CpuLimits> cpu_limits;  // absent: not known, in records of before it was written
  std::string operating_system;
  std::string clock_policy{"default"};  // what the user says (--tb_clock_policy): it cannot be read back
  /// Library and driver versions by name: driver, cuda_runtime, cublas, cudnn, libtorch, google_benchmark, compiler.
  std::map<std::string, std::string> versions;
  std::string commit;          // of the sources, "unknown" outside a checkout; "-dirty": they were changed since
  std::string sources_digest;  // SHA-256 over everything that is compiled
  std::string diff_digest;     // SHA-256 of the changes since the commit; empty: none are known
  std::string build_type;
  std::string compile_options;  // of C++ and CUDA, and the GPUs compiled for; empty in older files
  std::string variant;          // TBENCH_VARIANT, a name for a build that differs in nothing else recorded; often empty
  std::string date;             // ISO 8601, when the run began
  bool operator==(const Environment&) const = default;
};

/// Twelve digits of the commit, or where it is unknown of the sources' digest, with the variant:
/// `29971fb85631-dirty (no_l2)`.
[[nodiscard]] std::string build_name(const Environment& environment);

/// Returns why these are results of two builds; nothing for one build. Options that a side does not tell are not
/// compared.
[[nodiscard]] std::optional<std::string> build_difference(const Environment& a, const Environment& b);

/// Equal for results of one build.
[[nodiscard]] std::string build_key(const Environment& environment);

/// Why results made in `a` and `b` must not be put into one file (`--tb_resume`): another GPU model, build
/// (build_difference() and the versions) or clock policy. Nothing if they may. Serial numbers and dates do not matter.
[[nodiscard]] std::optional<std::string> incompatibility(const Environment& a, const Environment& b);

/// Why what a worker process measures must not be put beside what an earlier one of the same run has measured: as
/// incompatibility(), another commit, or another GPU of the model. Nothing if it may.
[[nodiscard]] std::optional<std::string> worker_difference(const Environment& first, const Environment& now);

}  // namespace tbench
