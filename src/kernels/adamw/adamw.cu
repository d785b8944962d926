// One kernel: a block takes a chunk of one tensor, a thread a vector of each of the four arrays, four independent loads
// of 16 bytes. What is read leaves L2 first. Stores that ask for the same made a step 3 to 4 % slower.
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

constexpr int kThreads = 256;
constexpr int kWidth = 4;  // floats of a vector
constexpr int kVectors = 1;
static_assert(kAdamWChunk == kThreads * kWidth * kVectors, "a chunk is what a block's threads take");
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

/// What all elements of a step share.
struct Corrections {
  float step_size;         // lr / (1 - b1^t)
  float inverse_root;      // 1 / sqrt(1 - b2^t)
  float inverse_of_scale;  // of the gradients
};

__device__ Corrections corrections_of(const Scalars& scalars) {
  const float t = planted(StepFault::kAdamWStep) ? *scalars.step + 1 : *scalars.step;
  // 1 - b^t by expm1: a power near 1, subtracted from 1, would leave few bits.
  return {
      .step_size = scalars.learning_rate / -expm1f(t * scalars.log_beta1),
      .inverse_root = planted(StepFault::kAdamWSecondCorrection) ? 1.0F : 1.0F / sqrtf(-expm1f(t * scalars.log_beta2)),
      .inverse_of_scale = scalars.gradient_scale == nullptr ? 1.0F : 1.0F / *scalars.gradient_scale};
}

__device__ __forceinline__ void update(float& p, float g, float& m, float& v, const Scalars& scalars,
                                       const Corrections& corrections) {
  g *= corrections.inverse_of_scale;
  const float old_m = m;
  m = scalars.beta1 * m + scalars.one_minus_beta1 * g;
  v = scalars.beta2 * v + scalars.one_minus_beta2 * g * (planted(StepFault::kAdamWPlainGradient) ? 1.0F : g);
  const float decay = planted(StepFault::kAdamWDecay) ? 1.0F : scalars.decay;
  const float direction = planted(StepFault::kAdamWOldMoment) ? old_m : m;
  p = p * decay - corrections.step_size * direction / (sqrtf(v) * corrections.inverse_root + scalars.epsilon);
}

/// The last tensor whose first chunk is not behind `chunk`: one without elements has the next one's first chunk.
__device__ int tensor_of(const Table& table, unsigned chunk) {
  int found = 0;
#pragma unroll
  for (int step = kAdamWTensorsOfALaunch / 2; step > 0; step /= 2) {
    if (found + step < table.count && table.first_chunk[found + step] <= chunk) found += step;
  }
  return found;
}

template <class Gradient, class Copy, bool kHasCopy>
__device__ void update_vectors(const AdamWTensor& tensor, std::int64_t begin, const Scalars& scalars) {
  Word<float, kWidth> words[3][kVectors];
  Word<Gradient, kWidth> gradients[kVectors];
  const std::int64_t first = begin + static_cast<int>(threadIdx.x) * kWidth;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const std::int64_t at = first + i * kThreads * kWidth;
    words[0][i] = load_once<kWidth>(tensor.parameter + at);
    gradients[i] = load_once<kWidth>(static_cast<const Gradient*>(tensor.gradient) + at);
    words[1][i] = load_once<kWidth>(tensor.first_moment + at);
    words[2][i] = load_once<kWidth>(tensor.second_moment + at);
  }
  const Corrections corrections = corrections_of(scalars);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const std::int64_t at = first + i * kThreads * kWidth;
    float p[kWidth], g[kWidth], m[kWidth], v[kWidth];
    unpack<float, kWidth>(words[0][i], p);
    unpack<Gradient, kWidth>(gradients[i], g);
    unpack<float, kWidth>(words[1][i], m);
    unpack<float, kWidth>(words[2][i], v);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) update(p[j], g[j], m[j], v[j], scalars, corrections);
    store<kWidth>(tensor.parameter + at, p);
    store<kWidth>(tensor.first_moment + at, m);
    store<kWidth>(tensor.second_moment + at, v);
    if (planted(StepFault::kAdamWStaleCopy)) unpack<float, kWidth>(words[0][i], p);
    if constexpr (kHasCopy) store<kWidth>(static_cast<Copy*>(tensor.copy) + at, p);
  }
}

template <class Gradient, class Copy, bool kHasCopy>
__device__ void update_elements(const AdamWTensor& tensor, std::int64_t begin, std::int64_t end,
                                const Scalars& scalars) {
  const Corrections corrections = corrections_of(scalars);
  if (planted(StepFault::kAdamWLastElement)) --end;
  for (std::int64_t at = begin + threadIdx.x; at < end; at += kThreads) {
    float p = tensor.parameter[at], m = tensor.first_moment[at], v = tensor.second_moment[at];
    update(p, widened(static_cast<const Gradient*>(tensor.gradient)[at]), m, v, scalars, corrections);
    tensor.parameter[at] = p;
    tensor.first_moment[at] = m;
    tensor.second_moment[at] = v;
    if constexpr (kHasCopy) static_cast<Copy*>(tensor.copy)[at] = narrowed<Copy>(p);
  }
}

__device__ bool is_aligned(const void* pointer, unsigned bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

template <class Gradient, class Copy, bool kHasCopy>
__global__ void __launch_bounds__(kThreads)
    adamw_one_pass_kernel(const __grid_constant__ Table table, const __grid_constant__ Scalars scalars) {
  if (scalars.found_inf != nullptr && *scalars.found_inf != 0.0F) return;
  const int index = tensor_of(table, blockIdx.x);
  const AdamWTensor& tensor = table.tensors[index];
  const std::int64_t begin = std::int64_t{blockIdx.x - table.first_chunk[index]} * kAdamWChunk;
  if (planted(StepFault::kAdamWLastChunk) && begin > 0 && tensor.count - begin <= kAdamWChunk) return;
  const bool in_vectors =
      is_aligned(tensor.parameter, kVectorBytes) && is_aligned(tensor.gradient, kWidth * sizeof(Gradient)) &&
      is_aligned(tensor.first_moment, kVectorBytes) && is_aligned(tensor.second_moment, kVectorBytes) &&
      is_aligned(tensor.copy, kWidth * sizeof(Copy));
  if (in_vectors && tensor.count - begin >= kAdamWChunk) {
    update_vectors<Gradient, Copy, kHasCopy>(tensor, begin, scalars);
  } else {
    const std::int64_t end = begin + kAdamWChunk;
    update_elements<Gradient, Copy, kHasCopy>(tensor, begin, end < tensor.count ? end : tensor.count, scalars);
  }
}

/// Without a copy its type does not matter.
auto kernel_for(const AdamWStep& step, bool has_copy) {
  if (step.gradient_precision == Precision::kBf16) {
    return has_copy ? &adamw_one_pass_kernel<__nv_bfloat16, __nv_bfloat16, true>
                    : &adamw_one_pass_kernel<__nv_bfloat16, __half, false>;
  }
  if (!has_copy) return &adamw_one_pass_kernel<float, __half, false>;
  return step.copy_precision == Precision::kBf16 ? &adamw_one_pass_kernel<float, __nv_bfloat16, true>
                                                 : &adamw_one_pass_kernel<float, __half, true>;
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

void adamw(std::span<const AdamWTensor> tensors, const AdamWStep& step, cudaStream_t stream) {
  check(tensors, step);
  const Scalars scalars = scalars_of(step);
  for (const AdamWLaunch& launch : adamw_launches(tensors)) {
    check_extent("adamw", "the chunks of a launch", launch.chunks, 1, 0x7fffffff);
    const Table table = table_of(tensors, launch);
    bool has_copy = false;
    for (int i = 0; i < table.count; ++i) has_copy = has_copy || table.tensors[i].copy != nullptr;
    const auto kernel = kernel_for(step, has_copy);
    upload_step_fault(stream);
    kernel<<<static_cast<unsigned>(launch.chunks), kThreads, 0, stream>>>(table, scalars);
    TBENCH_CUDA_CHECK(cudaGetLastError());
  }
}

}  // namespace tbench::kernels
