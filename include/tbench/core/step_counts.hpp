// What is counted of a step: the work that a transformer's cannot do without, by what limits it, which is the lower end
// of the study `waterfall`, with the bytes of an element, which every such count needs; and the cycles that it took.
#pragma once

#include <cstdint>
#include <optional>

#include "tbench/core/enums.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/record.hpp"
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

/// The clock by which the median time is to be multiplied for a step's cycles. Where they were counted these are what
/// was counted in all steps, on average: of products at the power limit the same within 0.1 % in three processes on an
/// H200, whose medians differed by up to 1.5 %, while NVML told a clock 9 % above the counted one. Elsewhere the best
/// that is known of the clock, or nothing.
[[nodiscard]] std::optional<Hertz> cycle_clock(const DeviceState& device, const Timing& timing);

}  // namespace tbench
