// One kernel serves both passes. A thread has one vector of a head at one position in every part, so that queries and
// keys share the angles that it loads. Threads are in the order [token, head, head_dim] of the packed product. Accesses
// to the product are therefore contiguous; in the other layout contiguous runs have the length of head_dim.
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/common/dispatch.hpp"
#include "kernels/common/pdl.cuh"
#include "kernels/common/step_fault.cuh"
#include "kernels/common/vectors.cuh"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/rope.hpp"

namespace tbench::kernels {
namespace {

constexpr int kThreads = 256;

/// Divisors that split a thread's index.
struct Extents {
  unsigned vectors;  // vectors per part
  unsigned seq, heads, vectors_of_a_head;
};

struct Place {
  unsigned batch, seq, head;
  int column;  // index of the element in the head
};

template <int kWidth>
__device__ __forceinline__ Place place_of(unsigned index, const Extents& extents) {
  const unsigned row = index / extents.vectors_of_a_head, token = row / extents.heads;
  const unsigned batch = token / extents.seq;
  return {.batch = batch,
          .seq = token - batch * extents.seq,
          .head = row - token * extents.heads,
          .column = static_cast<int>(index - row * extents.vectors_of_a_head) * kWidth};
}

template <class Element>
__device__ __forceinline__ Element* element(const TensorView& view, const Place& place) {
  return static_cast<Element*>(view.data) +
         (place.batch * view.strides[0] + place.head * view.strides[1] + place.seq * view.strides[2] + place.column);
}

template <class Element, int kWidth, int kParts>
__global__ void __launch_bounds__(kThreads)
    rope_layout_kernel(const __grid_constant__ RopeProblem problem, Extents extents) {
  constexpr int kPairs = kWidth / 2;
  griddep_launch_dependents();
  const unsigned index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= extents.vectors) return;
  const Place place = place_of<kWidth>(index, extents);
  griddep_wait();
  Word<Element, kWidth> words[kParts];
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    words[part] = load_once<kWidth>(element<const Element>(problem.from[part], place));
  }
  float cos[kPairs], sin[kPairs];
  const unsigned late = injected(InjectedStepFault::kRopePosition) && place.seq > 0 ? 1 : 0;
  const std::int64_t angle = ((place.seq - late) * problem.head_dim + place.column) / 2;
  unpack<float, kPairs>(load_cached<kPairs>(problem.cos + angle), cos);
  unpack<float, kPairs>(load_cached<kPairs>(problem.sin + angle), sin);
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    float values[kWidth];
    unpack<Element, kWidth>(words[part], values);
    if (part < problem.turned && !(injected(InjectedStepFault::kRopeKeys) && part == 1)) {
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        const float a = values[2 * i], b = values[2 * i + 1];
        const float s = problem.backward && !injected(InjectedStepFault::kRopeSign) ? -sin[i] : sin[i];
        values[2 * i] = a * cos[i] - b * s;
        values[2 * i + 1] = a * s + b * cos[i];
        if (injected(InjectedStepFault::kRopePair)) values[2 * i + 1] = b * cos[i] - a * s;
      }
    }
    if (injected(InjectedStepFault::kRopeLastHead) && place.head + 1 == extents.heads) continue;
    store<kWidth>(element<Element>(problem.to[part], place), values);
  }
}

void check_rope(const RopeProblem& problem) {
  constexpr std::int64_t kMost = std::numeric_limits<unsigned>::max();
  check_extent("rope", "batch", problem.batch, 1, kMost);
  check_extent("rope", "seq", problem.seq, 1, kMost / problem.batch);
  check_extent("rope", "heads", problem.heads, 1, kMost / (problem.batch * problem.seq));
  check_extent("rope", "head_dim", problem.head_dim, 2, kMost / (problem.batch * problem.seq * problem.heads));
  check_extent("rope", "parts", problem.parts, 1, kRopeMaxParts);
  check_extent("rope", "the number of turned parts", problem.turned, 0, problem.parts);
  if (problem.head_dim % 2 != 0) {
    throw std::invalid_argument{"rope: head_dim is " + std::to_string(problem.head_dim) +
                                "; pairs turn, so it is even"};
  }
  check_pointers("rope", {problem.cos, problem.sin});
  for (int part = 0; part < problem.parts; ++part) {
    const auto i = static_cast<std::size_t>(part);
    check_pointers("rope", {problem.from.at(i).data, problem.to.at(i).data});
    if (!are_aligned({problem.from.at(i).data, problem.to.at(i).data},
                     2 * static_cast<std::uintptr_t>(storage_bytes(problem.precision)))) {
      throw std::invalid_argument{"rope: part " + std::to_string(part) + " does not begin at a pair's address"};
    }
    for (const TensorView* const view : {&problem.from.at(i), &problem.to.at(i)}) {
      for (const std::int64_t stride : view->strides) {
        if (stride % 2 != 0) {
          throw std::invalid_argument{"rope: a stride is " + std::to_string(stride) +
                                      " elements; pairs need even ones"};
        }
      }
    }
  }
}

bool fits_vectors(const RopeProblem& problem, std::int64_t vector) {
  // An access to a vector also reads half as many float32 values from each of cos and sin as the vector has elements,
  // so these pointers have to be aligned to kVectorBytes, too.
  bool fits = problem.head_dim % vector == 0 && are_aligned({problem.cos, problem.sin}, kVectorBytes);
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.parts); ++i) {
    for (const TensorView* const view : {&problem.from.at(i), &problem.to.at(i)}) {
      fits = fits && are_aligned({view->data}, kVectorBytes);
      for (const std::int64_t stride : view->strides) fits = fits && stride % vector == 0;
    }
  }
  return fits;
}

template <class Element, int kWidth>
void launch(const RopeProblem& problem, cudaStream_t stream) {
  const std::int64_t of_a_head = problem.head_dim / kWidth;
  const Extents extents{.vectors = static_cast<unsigned>(problem.batch * problem.seq * problem.heads * of_a_head),
                        .seq = static_cast<unsigned>(problem.seq),
                        .heads = static_cast<unsigned>(problem.heads),
                        .vectors_of_a_head = static_cast<unsigned>(of_a_head)};
  const auto kernel = problem.parts == 1   ? &rope_layout_kernel<Element, kWidth, 1>
                      : problem.parts == 2 ? &rope_layout_kernel<Element, kWidth, 2>
                                           : &rope_layout_kernel<Element, kWidth, 3>;
  upload_step_fault(stream);
  const auto blocks = static_cast<unsigned>(ceil_div(extents.vectors, kThreads));
  if (problem.backward) {  // attention's last kernel precedes this kernel and lets it start early
    return launch_pdl(kernel, blocks, kThreads, 0, stream, problem, extents);
  }
  // After a matrix product, which lets no kernel start early, a launch with PDL takes 0.3 to 0.5 us longer than an
  // ordinary launch.
  kernel<<<blocks, kThreads, 0, stream>>>(problem, extents);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

TensorView packed_part(void* product, const RopeProblem& problem, int part) {
  const std::int64_t row = problem.heads * problem.head_dim;
  const std::int64_t bytes = part * row * storage_bytes(problem.precision);
  return {.data = static_cast<char*>(product) + bytes,
          .strides = {problem.seq * problem.parts * row, problem.head_dim, problem.parts * row}};
}

TensorView contiguous_heads(void* tensor, const RopeProblem& problem) {
  const std::int64_t head = problem.seq * problem.head_dim;
  return {.data = tensor, .strides = {problem.heads * head, head, problem.head_dim}};
}

void rope(const RopeProblem& problem, cudaStream_t stream) {
  check_rope(problem);
  with_storage_type("rope", problem.precision, [&](auto type) {
    using Element = typename decltype(type)::Type;
    constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(Element));
    fits_vectors(problem, kWidth) ? launch<Element, kWidth>(problem, stream) : launch<Element, 2>(problem, stream);
  });
}

}  // namespace tbench::kernels
