// Counts the FLOP and the bytes of attention's parts in a forward pass, from the shape of the case.
#pragma once

#include <optional>
#include <span>

#include "tbench/core/case_id.hpp"
#include "tbench/core/record.hpp"

namespace tbench::studies {

/// The FLOP of an operation, and the bytes that it reads and writes if it reads each input once and writes each output
/// once.
struct OperationCounts {
  double flop{};
  double bytes{};
  /// Returns the arithmetic intensity in FLOP per byte. An implementation that moves more bytes has less.
  [[nodiscard]] double intensity() const { return flop / bytes; }
};

/// The counts of one forward pass over all layers. B is the batch, H the number of heads, S the context length, D the
/// head dimension, and e the bytes of an element.
struct AttentionCounts {
  double layers{};
  double elements{};        // B H S^2 per layer: the scores
  OperationCounts scores;   // per layer 2 B H S^2 D FLOP, and e (B H S^2 + 2 B H S D) bytes: Q K^T
  OperationCounts softmax;  // per layer 5 B H S^2 FLOP (maximum, difference, exponential, sum, quotient), 2 e B H S^2
  OperationCounts context;  // as `scores`: the weights times V
  /// Returns the counts of both matrix products.
  [[nodiscard]] OperationCounts products() const {
    return {.flop = scores.flop + context.flop, .bytes = scores.bytes + context.bytes};
  }
};

/// Returns the counts for a case of the family Model. Returns nullopt for a size that is not built in, because the
/// record lacks its number of heads, and for a case without `batch` or `ctx`. A case without `precision` has float32.
[[nodiscard]] std::optional<AttentionCounts> attention_counts(const CaseId& id);

/// The passes of softmax's kernels over the scores of one layer in a forward pass.
struct ScorePasses {
  double reads{};
  double writes{};
};

/// Returns the passes of softmax's kernels: an elementwise kernel and a fused softmax read and write the scores once, a
/// reduction reads them once. Returns nullopt without the kernels of attention.softmax, and with kernels of other
/// classes, whose passes are unknown.
/// @param layers  number of the model's layers, > 0
[[nodiscard]] std::optional<ScorePasses> softmax_passes(std::span<const Record* const> records, double layers);

/// Returns the bytes of all these passes in the forward pass of a case in float32, whose scores have four bytes each.
/// Returns nullopt without records, and in other precisions, in which kernels read and write different types.
[[nodiscard]] std::optional<double> moved_by_softmax(std::span<const Record* const> records,
                                                     const AttentionCounts& counts);

}  // namespace tbench::studies
