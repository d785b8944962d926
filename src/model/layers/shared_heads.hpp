// Key and value heads that several query heads share (grouped-query attention), for operations that need a head each.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tbench::model {

/// Returns the heads of [batch, kv_heads, ...] copied for all heads that share them: [batch, heads, ...]. Query heads
/// h * heads / kv_heads and the following ones share head h. Returns the tensor itself if there is nothing to copy.
[[nodiscard]] at::Tensor repeated_heads(const at::Tensor& shared, std::int64_t heads);

/// Returns the sums over the heads that share a head: [batch, kv_heads, ...] from [batch, heads, ...]. Returns the
/// tensor itself if no head is shared.
[[nodiscard]] at::Tensor summed_heads(const at::Tensor& all, std::int64_t kv_heads);

}  // namespace tbench::model
