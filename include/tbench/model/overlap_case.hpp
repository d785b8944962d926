// Cases of an all-reduce that runs at the same time as matrix products: they measure the cost of overlapping
// communication with computation. The interface is free of LibTorch.
#pragma once

#include <cstdint>
#include <memory>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/model/device.hpp"
#include "tbench/ranks/group.hpp"

namespace tbench::model {

struct OverlapConfig {
  std::int64_t bytes{};   // bytes of the all-reduce, float32 like gradients; at least one element
  Precision precision{};  // precision of the products: fp32, tf32 or bf16
  DeviceKind device{};
  std::uint64_t seed{};
};

/// Makes an overlap case. A step has three phases: `products` alone, the `exchange` (the all-reduce) alone, and `both`
/// at once, where the exchange starts first, as with backward's hooks. On a GPU, a product has the shape of a
/// feed-forward layer, [2048, 2048] x [2048, 8192]; there are two products per 25 MiB of the exchange, and at least
/// two. On a CPU, a product is [64, 64] x [64, 64].
///
/// If nothing is hidden, `both` takes as long as the sum of the other two phases; if the exchange costs nothing, `both`
/// takes as long as the longer one. In practice an exchange has a cost: its kernels take SMs, links and memory
/// bandwidth from the products. The sums are verified exactly, as in the Collective family, and the product as in the
/// Gemm family.
/// @param group  the run's ranks; must outlive the case
[[nodiscard]] std::unique_ptr<Case> make_overlap_case(const OverlapConfig& config, ranks::Group& group);

}  // namespace tbench::model
