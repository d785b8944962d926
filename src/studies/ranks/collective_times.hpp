// How long a collective operation of any size takes between any number of GPUs, from those that were measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "tbench/core/units.hpp"
#include "tbench/core/work.hpp"

namespace tbench::studies {

class CollectiveTimes {
 public:
  /// @param gpus   > 1
  /// @param bytes  nccl-tests' size of the operation, > 0
  /// @param time   > 0
  /// @throws       std::invalid_argument for another value
  void add(CollectiveOp op, std::int64_t gpus, double bytes, Seconds time);

  /// Returns the number of GPUs whose times give the times for `gpus`: `gpus` itself where it was measured, otherwise
  /// the largest below, otherwise the smallest above. Returns nullopt for an operation that was not measured.
  [[nodiscard]] std::optional<std::int64_t> source(CollectiveOp op, std::int64_t gpus) const;

  /// Interpolates between measured sizes by a straight line in the logarithms of size and time; below the smallest its
  /// time, which is all latency; above the largest its bandwidth. For a number of GPUs N that was not measured an
  /// extrapolation from the source G: the latency, and the rest scaled by nccl-tests' factor, that is with the same bus
  /// bandwidth:
  ///   t_N(bytes) = latency(N) + max(0, t_G(bytes) - latency(G)) * bus_factor(N) / bus_factor(G).
  /// A measured count's latency is the time of its smallest size. The latencies of other counts are on the line
  /// through the two nearest counts, since a ring of N makes a number of steps that is linear in N; where only one was
  /// measured, its latency is taken, which is a lower bound. It does not know of a link that only more GPUs use, for
  /// instance the network to a second machine.
  /// @see  nccl-tests, doc/PERFORMANCE.md
  /// @param bytes  > 0
  /// @return       nothing for an operation that was not measured
  [[nodiscard]] std::optional<Seconds> time(CollectiveOp op, std::int64_t gpus, double bytes) const;

 private:
  using Sizes = std::map<double, Seconds>;  // by bytes

  [[nodiscard]] static Seconds between(const Sizes& sizes, double bytes);
  [[nodiscard]] Seconds latency(CollectiveOp op, std::int64_t gpus, std::int64_t source) const;

  std::map<std::pair<CollectiveOp, std::int64_t>, Sizes> measured_;  // by operation and GPUs
};

}  // namespace tbench::studies
