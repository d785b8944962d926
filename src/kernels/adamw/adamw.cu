// Two kernels with the same arithmetic. In the first kernel each CTA takes one chunk of a tensor, and each thread loads
// one vector of each of the four arrays, four independent loads of 16 bytes. The loads mark their lines in L2 to be
// evicted first; stores with this hint made a step 2 to 4 % slower (H200). The second kernel leaves most SMs to other
// kernels: few CTAs iterate over all elements and load the next elements before they have finished the current ones.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "kernels/common/dispatch.hpp"
#include "kernels/common/step_fault.cuh"
#include "kernels/common/vectors.cuh"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/adamw.hpp"

namespace tbench::kernels {
namespace {

constexpr int kThreads = 256;  // per CTA and chunk
constexpr int kWidth = 4;      // floats per vector
// Threads per CTA of the second kernel, which fill an SM with 64 registers each, and the number of elements that they
// take at a time.
constexpr int kThreadsOfFew = 1024;
constexpr std::int64_t kPiece = kThreadsOfFew * kWidth;
static_assert(kAdamWChunk == kThreads * kWidth, "a chunk is what kThreads threads take");
static_assert((kAdamWTensorsOfALaunch & (kAdamWTensorsOfALaunch - 1)) == 0, "the search halves its steps");

struct Table {
  AdamWTensor tensors[kAdamWTensorsOfALaunch];
  unsigned first_chunk[kAdamWTensorsOfALaunch];
  int count;
};

struct Scalars {
  float decay;  // 1 - lr decay
  float learning_rate, epsilon;
  float beta1, beta2, one_minus_beta1, one_minus_beta2;
  float log_beta1, log_beta2;
  const float* step;
  const float* found_inf;
  const float* gradient_scale;
};
static_assert(sizeof(Table) + sizeof(Scalars) <= 4096, "what every driver takes as a kernel's parameters");

/// Factors that are the same for all elements of a step.
struct Corrections {
  float step_size;         // lr / (1 - b1^t)
  float inverse_root;      // 1 / sqrt(1 - b2^t)
  float inverse_of_scale;  // factor of the gradients
};

__device__ Corrections corrections_of(const Scalars& scalars) {
  const float t = injected(InjectedStepFault::kAdamWStep) ? *scalars.step + 1 : *scalars.step;
  // 1 - b^t is computed with expm1, because the subtraction of a power near 1 would leave few significant bits.
  return {.step_size = scalars.learning_rate / -expm1f(t * scalars.log_beta1),
          .inverse_root =
              injected(InjectedStepFault::kAdamWSecondCorrection) ? 1.0F : 1.0F / sqrtf(-expm1f(t * scalars.log_beta2)),
          .inverse_of_scale = scalars.gradient_scale == nullptr ? 1.0F : 1.0F / *scalars.gradient_scale};
}

__device__ __forceinline__ void update(float& p, float g, float& m, float& v, const Scalars& scalars,
                                       const Corrections& corrections) {
  g *= corrections.inverse_of_scale;
  const float old_m = m;
  m = scalars.beta1 * m + scalars.one_minus_beta1 * g;
  v = scalars.beta2 * v + scalars.one_minus_beta2 * g * (injected(InjectedStepFault::kAdamWPlainGradient) ? 1.0F : g);
  const float decay = injected(InjectedStepFault::kAdamWDecay) ? 1.0F : scalars.decay;
  const float direction = injected(InjectedStepFault::kAdamWOldMoment) ? old_m : m;
  p = p * decay - corrections.step_size * direction / (sqrtf(v) * corrections.inverse_root + scalars.epsilon);
}

/// Returns the last tensor whose first chunk is not after `chunk`. A tensor without elements has the same first chunk
/// as the next one.
__device__ int tensor_of(const Table& table, unsigned chunk) {
  int found = 0;
#pragma unroll
  for (int step = kAdamWTensorsOfALaunch / 2; step > 0; step /= 2) {
    if (found + step < table.count && table.first_chunk[found + step] <= chunk) found += step;
  }
  return found;
}

__device__ bool is_aligned(const void* pointer, unsigned bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

template <class Gradient, class Copy>
__device__ bool are_vectors_aligned(const AdamWTensor& tensor) {
  return is_aligned(tensor.parameter, kVectorBytes) && is_aligned(tensor.gradient, kWidth * sizeof(Gradient)) &&
         is_aligned(tensor.first_moment, kVectorBytes) && is_aligned(tensor.second_moment, kVectorBytes) &&
         is_aligned(tensor.copy, kWidth * sizeof(Copy));
}

/// A thread's vectors of a whole chunk.
template <class Gradient>
struct Words {
  Word<float, kWidth> parameter;
  Word<Gradient, kWidth> gradient;
  Word<float, kWidth> first_moment, second_moment;
};

/// Loads a thread's vectors.
/// @param at  index of the thread's first element
template <class Gradient>
__device__ __forceinline__ Words<Gradient> load_words(const AdamWTensor& tensor, std::int64_t at) {
  Words<Gradient> words;
  words.parameter = load_once<kWidth>(tensor.parameter + at);
  words.gradient = load_once<kWidth>(static_cast<const Gradient*>(tensor.gradient) + at);
  words.first_moment = load_once<kWidth>(tensor.first_moment + at);
  words.second_moment = load_once<kWidth>(tensor.second_moment + at);
  return words;
}

/// Stores a word in one instruction. In a loop, the compiler splits store() into four instructions.
__device__ __forceinline__ void store_word(void* to, uint4 word) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w)
               : "memory");
}
__device__ __forceinline__ void store_word(void* to, uint2 word) {
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(word.x), "r"(word.y) : "memory");
}

template <class Gradient, class Copy, bool kHasCopy>
__device__ __forceinline__ void update_words(const AdamWTensor& tensor, std::int64_t at, const Words<Gradient>& words,
                                             const Scalars& scalars, const Corrections& corrections) {
  float p[kWidth], g[kWidth], m[kWidth], v[kWidth];
  unpack<float, kWidth>(words.parameter, p);
  unpack<Gradient, kWidth>(words.gradient, g);
  unpack<float, kWidth>(words.first_moment, m);
  unpack<float, kWidth>(words.second_moment, v);
#pragma unroll
  for (int j = 0; j < kWidth; ++j) update(p[j], g[j], m[j], v[j], scalars, corrections);
  store_word(tensor.parameter + at, packed<float, kWidth>(p));
  store_word(tensor.first_moment + at, packed<float, kWidth>(m));
  store_word(tensor.second_moment + at, packed<float, kWidth>(v));
  if (injected(InjectedStepFault::kAdamWStaleCopy)) unpack<float, kWidth>(words.parameter, p);
  if constexpr (kHasCopy) store_word(static_cast<Copy*>(tensor.copy) + at, packed<Copy, kWidth>(p));
}

template <class Gradient, class Copy, bool kHasCopy>
__device__ __forceinline__ void update_element(const AdamWTensor& tensor, std::int64_t at, const Scalars& scalars,
                                               const Corrections& corrections) {
  float p = tensor.parameter[at], m = tensor.first_moment[at], v = tensor.second_moment[at];
  update(p, to_float(static_cast<const Gradient*>(tensor.gradient)[at]), m, v, scalars, corrections);
  tensor.parameter[at] = p;
  tensor.first_moment[at] = m;
  tensor.second_moment[at] = v;
  if constexpr (kHasCopy) static_cast<Copy*>(tensor.copy)[at] = from_float<Copy>(p);
}

__device__ bool is_skipped(const Scalars& scalars) {
  return scalars.found_inf != nullptr && *scalars.found_inf != 0.0F;
}

template <class Gradient, class Copy, bool kHasCopy>
__global__ void __launch_bounds__(kThreads)
    adamw_one_pass_kernel(const __grid_constant__ Table table, const __grid_constant__ Scalars scalars) {
  if (is_skipped(scalars)) return;
  const int index = tensor_of(table, blockIdx.x);
  const AdamWTensor& tensor = table.tensors[index];
  const std::int64_t begin = std::int64_t{blockIdx.x - table.first_chunk[index]} * kAdamWChunk;
  if (injected(InjectedStepFault::kAdamWLastChunk) && begin > 0 && tensor.count - begin <= kAdamWChunk) return;
  if (are_vectors_aligned<Gradient, Copy>(tensor) && tensor.count - begin >= kAdamWChunk) {
    const std::int64_t at = begin + static_cast<int>(threadIdx.x) * kWidth;
    const Words<Gradient> words = load_words<Gradient>(tensor, at);
    update_words<Gradient, Copy, kHasCopy>(tensor, at, words, scalars, corrections_of(scalars));
    return;
  }
  const Corrections corrections = corrections_of(scalars);
  std::int64_t end = begin + kAdamWChunk < tensor.count ? begin + kAdamWChunk : tensor.count;
  if (injected(InjectedStepFault::kAdamWLastElement)) --end;
  for (std::int64_t at = begin + threadIdx.x; at < end; at += kThreads) {
    update_element<Gradient, Copy, kHasCopy>(tensor, at, scalars, corrections);
  }
}

/// The second kernel: the pieces of all tensors are numbered consecutively, and CTA i takes pieces i, i + gridDim.x,
/// and so on.
template <class Gradient, class Copy, bool kHasCopy>
__global__ void __launch_bounds__(kThreadsOfFew)
    adamw_few_blocks_kernel(const __grid_constant__ Table table, const __grid_constant__ Scalars scalars) {
  if (is_skipped(scalars)) return;
  const Corrections corrections = corrections_of(scalars);
  const std::int64_t stride = std::int64_t{gridDim.x} * kPiece;
  unsigned piece = blockIdx.x;  // index of the piece in its tensor
  for (int index = 0; index < table.count; ++index) {
    const AdamWTensor& tensor = table.tensors[index];
    // Elements after the last whole chunk are accessed one by one, as in the first kernel.
    const std::int64_t in_vectors =
        are_vectors_aligned<Gradient, Copy>(tensor) ? tensor.count - tensor.count % kAdamWChunk : 0;
    std::int64_t at = piece * kPiece + static_cast<int>(threadIdx.x) * kWidth;
    Words<Gradient> words{};
    if (at < in_vectors) words = load_words<Gradient>(tensor, at);
    for (; at < in_vectors; at += stride) {
      Words<Gradient> next{};
      if (at + stride < in_vectors) next = load_words<Gradient>(tensor, at + stride);
      update_words<Gradient, Copy, kHasCopy>(tensor, at, words, scalars, corrections);
      words = next;
    }
    for (; at < tensor.count; at += stride) {
      for (std::int64_t one = at; one < at + kWidth && one < tensor.count; ++one) {
        update_element<Gradient, Copy, kHasCopy>(tensor, one, scalars, corrections);
      }
    }
    const auto pieces = static_cast<unsigned>((tensor.count + kPiece - 1) / kPiece);
    if (piece < pieces) piece += (pieces - piece + gridDim.x - 1) / gridDim.x * gridDim.x;
    piece -= pieces;
  }
}

struct Kernels {
  void (*one_pass)(Table, Scalars);
  void (*few_blocks)(Table, Scalars);
};

template <class Gradient, class Copy, bool kHasCopy>
constexpr Kernels kKernels{.one_pass = &adamw_one_pass_kernel<Gradient, Copy, kHasCopy>,
                           .few_blocks = &adamw_few_blocks_kernel<Gradient, Copy, kHasCopy>};

/// Returns the kernels for a step's types. If there is no copy, its type does not matter.
Kernels kernels_for(const AdamWStep& step, bool has_copy) {
  if (step.gradient_precision == Precision::kBf16) {
    return has_copy ? kKernels<__nv_bfloat16, __nv_bfloat16, true> : kKernels<__nv_bfloat16, __half, false>;
  }
  if (!has_copy) return kKernels<float, __half, false>;
  return step.copy_precision == Precision::kBf16 ? kKernels<float, __nv_bfloat16, true> : kKernels<float, __half, true>;
}

Scalars scalars_of(const AdamWStep& step) {
  return {.decay = static_cast<float>(1 - step.learning_rate * step.weight_decay),
          .learning_rate = static_cast<float>(step.learning_rate),
          .epsilon = static_cast<float>(step.epsilon),
          .beta1 = static_cast<float>(step.beta1),
          .beta2 = static_cast<float>(step.beta2),
          .one_minus_beta1 = static_cast<float>(1 - step.beta1),
          .one_minus_beta2 = static_cast<float>(1 - step.beta2),
          .log_beta1 = static_cast<float>(std::log(step.beta1)),
          .log_beta2 = static_cast<float>(std::log(step.beta2)),
          .step = step.step,
          .found_inf = step.found_inf,
          .gradient_scale = step.gradient_scale};
}

Table table_of(std::span<const AdamWTensor> tensors, const AdamWLaunch& launch) {
  Table table{};
  std::int64_t chunks = 0;
  for (int i = 0; i < launch.tensors; ++i) {
    table.tensors[i] = tensors[static_cast<std::size_t>(launch.first + i)];
    table.first_chunk[i] = static_cast<unsigned>(chunks);
    chunks += ceil_div(table.tensors[i].count, kAdamWChunk);
  }
  table.count = launch.tensors;
  return table;
}

void check(std::span<const AdamWTensor> tensors, const AdamWStep& step) {
  for (const double beta : {step.beta1, step.beta2}) {
    if (!(beta > 0 && beta < 1)) {
      throw std::invalid_argument{"adamw: a beta is " + std::to_string(beta) + "; expected one between 0 and 1"};
    }
  }
  if (step.copy_precision != Precision::kBf16 && step.copy_precision != Precision::kFp16) {
    throw std::invalid_argument{"adamw: the copy's precision is " + std::string{to_string(step.copy_precision)} +
                                "; expected bf16 or fp16"};
  }
  const bool is_short = step.gradient_precision == Precision::kBf16;
  if (step.gradient_precision != Precision::kFp32 && !is_short) {
    throw std::invalid_argument{"adamw: the gradients' precision is " +
                                std::string{to_string(step.gradient_precision)} + "; expected fp32 or bf16"};
  }
  check_pointers("adamw, the step's number", {step.step});
  bool is_first = true, has_copy = false;
  for (const AdamWTensor& tensor : tensors) {
    check_extent("adamw", "a tensor's count", tensor.count, 0, std::int64_t{1} << 40);
    if (tensor.count == 0) continue;
    check_pointers("adamw", {tensor.parameter, tensor.gradient, tensor.first_moment, tensor.second_moment});
    if (!is_first && has_copy != (tensor.copy != nullptr)) {
      throw std::invalid_argument{"adamw: some tensors have a copy and some have none; call it once for each kind"};
    }
    has_copy = tensor.copy != nullptr;
    if (is_short && has_copy && step.copy_precision != Precision::kBf16) {
      throw std::invalid_argument{"adamw: bf16 gradients with fp16 copies: expected bf16 copies or none"};
    }
    is_first = false;
  }
}

}  // namespace

std::vector<AdamWLaunch> adamw_launches(std::span<const AdamWTensor> tensors) {
  std::vector<AdamWLaunch> launches;
  for (std::int64_t first = 0; first < std::ssize(tensors); first += kAdamWTensorsOfALaunch) {
    AdamWLaunch launch{.first = first, .tensors = 0, .chunks = 0};
    for (; launch.tensors < kAdamWTensorsOfALaunch && first + launch.tensors < std::ssize(tensors); ++launch.tensors) {
      launch.chunks += ceil_div(tensors[static_cast<std::size_t>(first + launch.tensors)].count, kAdamWChunk);
    }
    if (launch.chunks > 0) launches.push_back(launch);
  }
  return launches;
}

std::int64_t adamw_few_blocks(const AdamWLaunch& launch, int max_blocks) {
  return std::min(ceil_div(launch.chunks * kAdamWChunk, kPiece), std::int64_t{max_blocks});
}

void adamw(std::span<const AdamWTensor> tensors, const AdamWStep& step, cudaStream_t stream,
           std::optional<int> max_blocks) {
  check(tensors, step);
  if (max_blocks) check_extent("adamw", "max_blocks", *max_blocks, 1, 0x7fffffff);
  const Scalars scalars = scalars_of(step);
  for (const AdamWLaunch& launch : adamw_launches(tensors)) {
    check_extent("adamw", "the chunks of a launch", launch.chunks, 1, 0x7fffffff);
    const Table table = table_of(tensors, launch);
    bool has_copy = false;
    for (int i = 0; i < table.count; ++i) has_copy = has_copy || table.tensors[i].copy != nullptr;
    const Kernels kernels = kernels_for(step, has_copy);
    upload_step_fault(stream);
    if (max_blocks) {
      const std::int64_t blocks = adamw_few_blocks(launch, *max_blocks);
      kernels.few_blocks<<<static_cast<unsigned>(blocks), kThreadsOfFew, 0, stream>>>(table, scalars);
    } else {
      kernels.one_pass<<<static_cast<unsigned>(launch.chunks), kThreads, 0, stream>>>(table, scalars);
    }
    TBENCH_CUDA_CHECK(cudaGetLastError());
  }
}

}  // namespace tbench::kernels
