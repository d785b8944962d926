// Launch functions of SwiGLU's elementwise part, h = silu(gate) up: one launch forward and one backward, on two
// matrices or on one product that holds both.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

/// `gate` and `up`, or their gradients: rows of SwigluShape::width elements, `stride` apart. If one product [rows, 2
/// width] holds both, up = gate + width and stride = 2 width.
template <class Pointer>
struct GatedPair {
  Pointer gate{};
  Pointer up{};
  std::int64_t stride{};  // in elements, >= width
};

/// Extents and type; rows x width is at most 2^32 - 1. If width and strides are multiples of 16 bytes and every pointer
/// is 16-byte aligned, rows are accessed in vectors, otherwise element by element.
struct SwigluShape {
  std::int64_t rows{};   // > 0
  std::int64_t width{};  // > 0
  Precision precision{};
};

struct SwigluBackward {
  GatedPair<const void*> inputs;
  const void* dh{};            // [rows, width]
  GatedPair<void*> gradients;  // may be the memory of the inputs
  void* h{};  // [rows, width] or null: h, computed again for the weight gradient that follows; may not overlap dh
};

/// Each function enqueues one launch and does not synchronise. With s = 1 / (1 + exp(-gate)): h = gate s up, dup = dh
/// gate s, dgate = dh up s (1 + gate (1 - s)). Every input is read once, every output written once.
/// @param h  [rows, width]
/// @throws   std::invalid_argument for invalid extents or a null pointer; cuda::CudaError
void swiglu_forward(const SwigluShape& shape, const GatedPair<const void*>& inputs, void* h, cudaStream_t stream);
void swiglu_backward(const SwigluShape& shape, const SwigluBackward& tensors, cudaStream_t stream);

}  // namespace tbench::kernels
