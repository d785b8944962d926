// When a backward pass has the gradient of which parameter tensor, counted from the model's shape.
#pragma once

#include <cstdint>
#include <vector>

#include "tbench/core/model_size.hpp"

namespace tbench::studies {

/// Which parameters of a layer are one tensor, with one gradient.
struct TensorLayout {
  bool joined_qkv{};      // q, k and v
  bool joined_gate_up{};  // w1 and w3
};

struct GradientTensor {
  std::int64_t elements{};
  double backward_share{};  // of the backward pass's FLOP, those that are done when this gradient is complete: 0 to 1
};

/// The parameter tensors in the order in which a backward pass completes their gradients, the reverse of their use: LM
/// head, last norm; of each layer from the last to the first w2, w1 and w3, norm, output projection, q, k and v, norm;
/// embedding. FLOP as in model_step_work(): 4 * tokens * elements of a matrix, attention's core 2.5 times its forward,
/// between output projection and q, k, v; norms and the embedding have none.
/// @param context  tokens a sequence, > 0
/// @param batch    sequences, > 0
/// @throws         std::invalid_argument if an extent is not positive
[[nodiscard]] std::vector<GradientTensor> gradient_order(const ModelSize& size, std::int64_t context,
                                                         std::int64_t batch, const TensorLayout& layout);

}  // namespace tbench::studies
