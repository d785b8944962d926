#include "kernels/attention/common/device_limits.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "tbench/cuda/error.hpp"

namespace tbench::kernels {
namespace {

constexpr int kMinMajor = 8;  // mma.m16n8k16, cp.async

DeviceLimits read_limits(int device) {
  const auto attribute = [device](cudaDeviceAttr name) {
    int value{};
    TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&value, name, device));
    return value;
  };
  return {.compute_capability_major = attribute(cudaDevAttrComputeCapabilityMajor),
          .compute_capability_minor = attribute(cudaDevAttrComputeCapabilityMinor),
          .multiprocessors = attribute(cudaDevAttrMultiProcessorCount),
          .shared_bytes_per_block = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))};
}

/// Whether the code of one list entry, such as "8.0", "9.0a" or "9.0+PTX", runs on a compute capability.
bool runs(std::string_view architecture, std::pair<int, int> capability) {
  constexpr std::string_view kPtx = "+PTX";
  const bool has_ptx = architecture.ends_with(kPtx);
  if (has_ptx) architecture.remove_suffix(kPtx.size());
  const bool is_specific = architecture.ends_with('a');
  if (is_specific) architecture.remove_suffix(1);
  std::pair<int, int> built{};
  const char* const end = architecture.data() + architecture.size();
  const auto [dot, error] = std::from_chars(architecture.data(), end, built.first);
  if (error != std::errc{} || dot == end || *dot != '.' || std::from_chars(dot + 1, end, built.second).ptr != end) {
    throw std::invalid_argument{
        fmt::format("TBENCH_CUDA_ARCHITECTURES has '{}': expected a compute capability such as 8.0, 9.0a or 9.0+PTX",
                    architecture)};
  }
  if (is_specific) return capability == built;
  return capability >= built && (has_ptx || capability.first == built.first);
}

/// Whether an entry of the list satisfies `predicate`.
template <typename Predicate>
bool has_entry(std::string_view architectures, const Predicate& predicate) {
  for (std::string_view rest = architectures; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (end > 0 && predicate(rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::pair<int, int> capability_of(const DeviceLimits& limits) {
  return {limits.compute_capability_major, limits.compute_capability_minor};
}

}  // namespace

DeviceLimits DeviceLimitsCache::of(int device) {
  const std::lock_guard lock{mutex_};
  const auto known = limits_.find(device);
  return known != limits_.end() ? known->second : limits_.emplace(device, read_(device)).first->second;
}

DeviceLimits current_device_limits() {
  static DeviceLimitsCache cache{&read_limits};
  int device{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  return cache.of(device);
}

std::string_view built_architectures() { return TBENCH_BUILT_ARCHITECTURES; }

std::optional<std::string> missing_code_reason(const DeviceLimits& limits, std::string_view architectures) {
  const std::pair capability = capability_of(limits);
  if (capability.first < kMinMajor) {
    return fmt::format("the kernels need compute capability {}.0, the GPU has {}.{}", kMinMajor, capability.first,
                       capability.second);
  }
  if (has_entry(architectures, [&](std::string_view entry) { return runs(entry, capability); })) return std::nullopt;
  return fmt::format(
      "the GPU has compute capability {0}.{1}, this build's kernels are for {2}: add {0}.{1} to "
      "TBENCH_CUDA_ARCHITECTURES and build again",
      capability.first, capability.second, architectures);
}

bool is_hopper(const DeviceLimits& limits) { return capability_of(limits) == std::pair{9, 0}; }

bool runs_sm90a(const DeviceLimits& limits, std::string_view architectures) {
  return is_hopper(limits) &&
         has_entry(architectures, [](std::string_view entry) { return entry.starts_with("9.0a"); });
}

}  // namespace tbench::kernels
