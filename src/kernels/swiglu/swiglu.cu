// Two kernels on vectors in the order of h. The vectors of a CTA are contiguous, one per thread: two or three
// independent 16-byte loads in as many threads as an SM holds. On an H200, two vectors per thread were 0 to 4 % slower,
// four 10 to 25 % slower. The data for the next matrix product stays in L2.
#include <limits>
#include <string>

#include "kernels/common/dispatch.hpp"
#include "kernels/common/step_fault.cuh"
#include "kernels/common/vectors.cuh"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/swiglu.hpp"

namespace tbench::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kVectors = 1;  // per thread

/// Returns the logistic function of x. 16-bit types use the fast exponential and division, whose errors are a few units
/// in float32's last place.
template <class Element>
__device__ __forceinline__ float logistic(float x) {
  if constexpr (sizeof(Element) == sizeof(float)) {
    return 1.0F / (1.0F + expf(-x));
  } else {
    return __fdividef(1.0F, 1.0F + __expf(-x));
  }
}

/// Number of vectors of h in total and per row.
struct Vectors {
  unsigned count, of_a_row;
};

/// Returns the offset of vector `index` of h in a matrix with this stride.
template <int kWidth>
__device__ __forceinline__ std::int64_t place(const Vectors& vectors, unsigned index, std::int64_t stride) {
  const unsigned row = index / vectors.of_a_row;
  return row * stride + std::int64_t{index - row * vectors.of_a_row} * kWidth;
}

/// Returns the index of this thread's first vector; its further vectors are kThreads apart.
__device__ __forceinline__ unsigned first_vector() { return blockIdx.x * kThreads * kVectors + threadIdx.x; }

template <class Element, int kWidth>
__global__ void __launch_bounds__(kThreads)
    swiglu_forward_kernel(const GatedPair<const void*> inputs, Element* h, Vectors vectors) {
  Word<Element, kWidth> gate_words[kVectors], up_words[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const unsigned index = first_vector() + i * kThreads;
    if (index >= vectors.count) continue;
    const std::int64_t at = place<kWidth>(vectors, index, inputs.stride);
    const int early = injected(InjectedStepFault::kSwigluHalfRow) && index > 0 ? kWidth : 0;
    gate_words[i] = load_once<kWidth>(static_cast<const Element*>(inputs.gate) + at);
    up_words[i] = load_once<kWidth>(static_cast<const Element*>(inputs.up) + at - early);
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const unsigned index = first_vector() + i * kThreads;
    if (index >= vectors.count) continue;
    if (injected(InjectedStepFault::kSwigluLastVector) && index + 1 == vectors.count) continue;
    float gate[kWidth], up[kWidth];
    unpack<Element, kWidth>(gate_words[i], gate);
    unpack<Element, kWidth>(up_words[i], up);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      const float s = logistic<Element>(gate[j]);
      gate[j] = injected(InjectedStepFault::kSwigluNoGate) ? s * up[j] : gate[j] * (s * up[j]);
    }
    store<kWidth>(h + std::int64_t{index} * kWidth, gate);
  }
}

template <class Element, int kWidth>
__global__ void __launch_bounds__(kThreads) swiglu_backward_kernel(const SwigluBackward tensors, Vectors vectors) {
  Word<Element, kWidth> gate_words[kVectors], up_words[kVectors], dh_words[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const unsigned index = first_vector() + i * kThreads;
    if (index >= vectors.count) continue;
    const std::int64_t at = place<kWidth>(vectors, index, tensors.inputs.stride);
    gate_words[i] = load_once<kWidth>(static_cast<const Element*>(tensors.inputs.gate) + at);
    up_words[i] = load_once<kWidth>(static_cast<const Element*>(tensors.inputs.up) + at);
    dh_words[i] = load_once<kWidth>(static_cast<const Element*>(tensors.dh) + std::int64_t{index} * kWidth);
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const unsigned index = first_vector() + i * kThreads;
    if (index >= vectors.count) continue;
    float gate[kWidth], up[kWidth], dh[kWidth];
    unpack<Element, kWidth>(gate_words[i], gate);
    unpack<Element, kWidth>(up_words[i], up);
    unpack<Element, kWidth>(dh_words[i], dh);
    float h[kWidth], dup[kWidth];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      const float s = logistic<Element>(gate[j]);
      const float silu = gate[j] * s;
      h[j] = injected(InjectedStepFault::kSwigluH) ? silu : silu * up[j];
      dup[j] = dh[j] * (injected(InjectedStepFault::kSwigluDup) ? s : silu);
      gate[j] = dh[j] * up[j] * (injected(InjectedStepFault::kSwigluSlope) ? s : s + silu * (1.0F - s));
    }
    const std::int64_t at = place<kWidth>(vectors, index, tensors.gradients.stride);
    store<kWidth>(static_cast<Element*>(tensors.gradients.gate) + at, gate);
    store<kWidth>(static_cast<Element*>(tensors.gradients.up) + at, dup);
    if (tensors.h != nullptr) store<kWidth>(static_cast<Element*>(tensors.h) + std::int64_t{index} * kWidth, h);
  }
}

void check_swiglu(const SwigluShape& shape, std::int64_t stride) {
  constexpr std::int64_t kMost = std::numeric_limits<unsigned>::max();
  check_extent("swiglu", "rows", shape.rows, 1, kMost);
  check_extent("swiglu", "the width", shape.width, 1, kMost / shape.rows);
  check_extent("swiglu", "a stride", stride, shape.width, std::int64_t{1} << 40);
}

/// Whether every row of every matrix can be read in vectors.
bool fits_vectors(const SwigluShape& shape, std::initializer_list<std::int64_t> strides,
                  std::initializer_list<const void*> pointers) {
  const std::int64_t vector = kVectorBytes / storage_bytes(shape.precision);
  bool fits = shape.width % vector == 0 && are_aligned(pointers, kVectorBytes);
  for (const std::int64_t stride : strides) fits = fits && stride % vector == 0;
  return fits;
}

/// Calls `launch` with the type's tag, the vector's width as a constant, the vectors and the number of CTAs for them.
template <class Launch>
void with_vectors(const SwigluShape& shape, bool in_vectors, cudaStream_t stream, const Launch& launch) {
  with_storage_type("swiglu", shape.precision, [&](auto type) {
    constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(typename decltype(type)::Type));
    const auto with_width = [&](auto width) {
      upload_step_fault(stream);
      const std::int64_t of_a_row = shape.width / width;
      const Vectors vectors{.count = static_cast<unsigned>(shape.rows * of_a_row),
                            .of_a_row = static_cast<unsigned>(of_a_row)};
      launch(type, width, vectors, static_cast<unsigned>(ceil_div(vectors.count, kThreads * kVectors)));
    };
    in_vectors ? with_width(std::integral_constant<int, kWidth>{}) : with_width(std::integral_constant<int, 1>{});
  });
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void swiglu_forward(const SwigluShape& shape, const GatedPair<const void*>& inputs, void* h, cudaStream_t stream) {
  check_swiglu(shape, inputs.stride);
  check_pointers("swiglu, forward", {inputs.gate, inputs.up, h});
  const bool in_vectors = fits_vectors(shape, {inputs.stride}, {inputs.gate, inputs.up, h});
  with_vectors(shape, in_vectors, stream, [&](auto type, auto width, const Vectors& vectors, unsigned blocks) {
    using Element = typename decltype(type)::Type;
    swiglu_forward_kernel<Element, decltype(width)::value>
        <<<blocks, kThreads, 0, stream>>>(inputs, static_cast<Element*>(h), vectors);
  });
}

void swiglu_backward(const SwigluShape& shape, const SwigluBackward& tensors, cudaStream_t stream) {
  const auto& [inputs, dh, gradients, h] = tensors;
  check_swiglu(shape, inputs.stride);
  check_swiglu(shape, gradients.stride);
  check_pointers("swiglu, backward", {inputs.gate, inputs.up, dh, gradients.gate, gradients.up});
  const bool in_vectors = fits_vectors(shape, {inputs.stride, gradients.stride},
                                       {inputs.gate, inputs.up, dh, gradients.gate, gradients.up, h});
  with_vectors(shape, in_vectors, stream, [&](auto type, auto width, const Vectors& vectors, unsigned blocks) {
    using Element = typename decltype(type)::Type;
    swiglu_backward_kernel<Element, decltype(width)::value><<<blocks, kThreads, 0, stream>>>(tensors, vectors);
  });
}

}  // namespace tbench::kernels
