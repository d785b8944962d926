// An all-reduce beside matrix products, as a case: what hiding an exchange behind computation costs. Free of LibTorch
// in its interface.
#pragma once

#include <cstdint>
#include <memory>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/model/device.hpp"
#include "tbench/ranks/group.hpp"

namespace tbench::model {

struct OverlapConfig {
  std::int64_t bytes{};   // of the all-reduce: float32, as gradients are; at least an element
  Precision precision{};  // of the products: fp32, tf32 or bf16
  DeviceKind device{};
  std::uint64_t seed{};
};

/// A step has three phases: `products` alone, the `exchange` alone, and `both` at once, the exchange started first, as
/// backward's hooks do it. On a GPU a product has the shape of a feed-forward layer, [2048, 2048] x [2048, 8192], two
/// for every 25 MiB of the exchange and at least two; on a CPU [64, 64] x [64, 64].
///
/// Nothing is hidden where both takes as long as one after the other; an exchange that costs nothing leaves both as
/// long as the longer of the two. It costs something: its kernels take multiprocessors, links and memory from the
/// products. The sums are verified exactly, like those that Collective makes, the product like a product of Gemm.
/// @param group  outlives the case
[[nodiscard]] std::unique_ptr<Case> make_overlap_case(const OverlapConfig& config, ranks::Group& group);

}  // namespace tbench::model
