// Estimates the time of a collective operation of any size between any number of GPUs from the measured times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "tbench/core/units.hpp"
#include "tbench/core/work.hpp"

namespace tbench::studies {

class CollectiveTimes {
 public:
  /// Adds a measured time.
  /// @param gpus   > 1
  /// @param bytes  size of the operation as nccl-tests defines it, > 0
  /// @param time   > 0
  /// @throws       std::invalid_argument  for a value outside these limits
  void add(CollectiveOp op, std::int64_t gpus, double bytes, Seconds time);

  /// Returns the number of GPUs whose measured times are the source of the times for `gpus`. This is `gpus` itself if
  /// it was measured. If it was not, this is the largest smaller number, or the smallest larger one if there is no
  /// smaller number. Returns nullopt for an operation that was not measured.
  [[nodiscard]] std::optional<std::int64_t> source(CollectiveOp op, std::int64_t gpus) const;

  /// Estimates a time. Between measured sizes, it interpolates linearly in the logarithms of size and time. Below the
  /// smallest size, it returns the time of the smallest size, which is all latency. Above the largest size, it assumes
  /// the bandwidth of the largest size.
  ///
  /// For a number of GPUs N that was not measured, it extrapolates from the source G. The time beyond the latency is
  /// scaled by the factor of nccl-tests, which assumes the same bus bandwidth:
  ///   t_N(bytes) = latency(N) + max(0, t_G(bytes) - latency(G)) * bus_factor(N) / bus_factor(G).
  /// The latency of a measured number of GPUs is the time of its smallest size. Other latencies are on the line through
  /// G and the measured number nearest to G, since the number of steps of a ring is linear in N. If only G was
  /// measured, its latency is used, which is a lower bound for more GPUs. The estimate does not consider links that
  /// only more GPUs use, such as the network to a second machine.
  /// @see  nccl-tests, doc/PERFORMANCE.md
  /// @param bytes  > 0
  /// @return       nullopt for an operation that was not measured
  [[nodiscard]] std::optional<Seconds> time(CollectiveOp op, std::int64_t gpus, double bytes) const;

 private:
  using Sizes = std::map<double, Seconds>;  // by bytes

  [[nodiscard]] static Seconds between(const Sizes& sizes, double bytes);
  [[nodiscard]] Seconds latency(CollectiveOp op, std::int64_t gpus, std::int64_t source) const;

  std::map<std::pair<CollectiveOp, std::int64_t>, Sizes> measured_;  // by operation and GPUs
};

}  // namespace tbench::studies
