// Where and with what a result was made.
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

struct Environment {
  std::optional<GpuFacts> gpu;  // absent: the cases ran on the CPU
  std::string cpu_name;
  std::int64_t cpu_cores{};
  std::string operating_system;
  std::string clock_policy{"default"};  // what the user says (--tb_clock_policy): it cannot be read back
  /// Library and driver versions by name: driver, cuda_runtime, cublas, cudnn, libtorch, google_benchmark, compiler.
  std::map<std::string, std::string> versions;
  std::string commit;          // of the sources, "unknown" outside a checkout
  std::string sources_digest;  // SHA-256 over everything that is compiled
  std::string build_type;
  std::string date;  // ISO 8601, when the run began
  bool operator==(const Environment&) const = default;
};

/// Why results made in `a` and `b` must not be put into one file (`--tb_resume`): another GPU model, build (digest of
/// the sources and the versions) or clock policy. Nothing if they may. Serial numbers and dates do not matter.
[[nodiscard]] std::optional<std::string> incompatibility(const Environment& a, const Environment& b);

}  // namespace tbench
