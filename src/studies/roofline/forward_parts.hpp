// Counts the FLOP and the bytes of the forward pass's operations, and sums the times of the kernels outside matrix
// products by operation.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "studies/roofline/attention_counts.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/record.hpp"

namespace tbench::studies {

/// The FLOP per element of the operations outside matrix products. Selections, copies and casts have none.
inline constexpr std::string_view kFlopPerElement =
    "5 of softmax, 1 of attention's scale, 4 of RMSNorm, 3 of RoPE, 5 of SwiGLU, 1 of the residual's addition";

/// The counts of one forward pass over all layers, for operations that each are one kernel, in float32.
struct ForwardCounts {
  double products{};  // FLOP: 2 per token and weight of the layers and the LM head, and 4 B H S^2 D per layer
  /// The operations outside matrix products by name: embedding, RMSNorm, RoPE, scale and mask, softmax, SwiGLU,
  /// residual.
  std::vector<std::pair<std::string, OperationCounts>> others;
  /// Returns the sum of the operations outside matrix products.
  [[nodiscard]] OperationCounts other() const;
};

/// Returns the counts for a case of the family Model in float32, whatever its precision; nullopt where
/// attention_counts() has none.
[[nodiscard]] std::optional<ForwardCounts> forward_counts(const CaseId& id);

/// Returns the time of the forward pass's kernels outside matrix products for each operation of ForwardCounts::others,
/// then for all kernels of no such operation, as `other`. Returns an empty vector without the kernels of ranges.
[[nodiscard]] std::vector<std::pair<std::string, Seconds>> times_outside_products(
    std::span<const Record* const> records);

/// Returns the bytes per second that softmax's kernels read and write in the forward pass. Returns nullopt without the
/// time of these kernels, and where moved_by_softmax() has no bytes.
[[nodiscard]] std::optional<double> softmax_rate(std::span<const Record* const> records, const AttentionCounts& counts);

}  // namespace tbench::studies
