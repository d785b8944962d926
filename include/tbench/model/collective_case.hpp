// Cases of one collective operation between the ranks of a run. The interface is free of LibTorch.
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
  /// Size as nccl-tests defines it: bytes of the larger of input and output on a rank. Rounded down so that every rank
  /// has the same number of elements.
  std::int64_t bytes{};
  Precision precision{};  // storage type: fp32 or bf16
  DeviceKind device{};
  std::uint64_t seed{};
};

/// Makes the case of a collective operation; a step is one operation. As in c10d, sums and broadcasts are in place and
/// the other operations are not. Inputs are whole numbers that follow from seed, rank and index. They are so small that
/// every sum of them is exact in the precision, whatever its order. Each rank computes the expected result by itself
/// and compares exactly, before the timing and, with other numbers, after it. During the timing, an in-place sum grows
/// with every step and ends at infinity; the time of a step does not depend on the values. `bytes_per_second` is the
/// algorithm bandwidth; the counter `bus_factor` turns it into the bus bandwidth.
/// @param group  the run's ranks; must outlive the case
[[nodiscard]] std::unique_ptr<Case> make_collective_case(const CollectiveConfig& config, ranks::Group& group);

}  // namespace tbench::model
