// What a step of the transformer cannot do without, by what limits it: the lower end of the study `waterfall`; and the
// bytes of an element, which every such count needs.
#pragma once

#include <cstdint>

#include "tbench/core/enums.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/units.hpp"
#include "tbench/core/work.hpp"

namespace tbench {

/// Of an element in memory: TF32 is stored as float32.
[[nodiscard]] std::int64_t storage_bytes(Precision precision);

struct StepFloor {
  Flop products{};   // of the dense layers
  Flop attention{};  // its products
  /// AdamW over float32 weights and moments, read and written, the gradients, in 16 bits with bf16, and a copy of the
  /// weights in 16 bits where the step computes in those.
  std::int64_t optimizer_bytes{};
  /// Embedding, norms with the residual's addition, RoPE, SwiGLU and loss: what each reads and writes if it is one
  /// kernel. The residual stream is float32, as autocast has it; all else has the precision's type.
  std::int64_t other_bytes{};
};

/// Counted from the shape: FLOP as in model_step_work(), bytes with every input read once and every output written
/// once.
/// @param size     extents > 0
/// @param context  tokens a sequence, > 0
/// @param batch    sequences, > 0
/// @throws         std::invalid_argument if an extent is not positive
[[nodiscard]] StepFloor model_step_floor(const ModelSize& size, std::int64_t context, std::int64_t batch, Pass pass,
                                         Precision precision);

}  // namespace tbench
