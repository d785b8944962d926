// One collective operation between the ranks of a run as a case. Free of LibTorch in its interface.
#pragma once

#include <cstdint>
#include <memory>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/device.hpp"
#include "tbench/ranks/group.hpp"

namespace tbench::model {

struct CollectiveConfig {
  CollectiveOp op{};
  /// nccl-tests' size: of the larger of input and output on a rank. Rounded down so that every rank has as many
  /// elements.
  std::int64_t bytes{};
  Precision precision{};  // storage type: fp32 or bf16
  DeviceKind device{};
  std::uint64_t seed{};
};

/// A step is one operation; sums and broadcasts are in place, as c10d has them, the others are not. Inputs are whole
/// numbers that follow from seed, rank and index, so small that every sum of them is exact in the precision, whatever
/// its order: each rank computes by itself what it must get and compares exactly, before the timing and, of other
/// numbers, after it.
/// While it is timed a sum is summed again and again and ends at infinity; its time does not depend on its values.
/// `bytes_per_second` is the algorithm bandwidth; the counter `bus_factor` turns it into the bus bandwidth.
/// @param group  outlives the case
[[nodiscard]] std::unique_ptr<Case> make_collective_case(const CollectiveConfig& config, ranks::Group& group);

}  // namespace tbench::model
