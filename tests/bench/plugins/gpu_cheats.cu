// Plug-ins that add two tensors on a GPU. TBENCH_VARIANT selects an honest one, or one that looks faster than it is.
#include <cuda_runtime.h>

#include <cstdlib>
#include <map>
#include <string_view>
#include <tuple>

#include "tbench/plugin.h"

namespace {

constexpr std::string_view kVariant = TBENCH_VARIANT;

struct Sum {
  const float* a;
  const float* b;
  float* to;
  std::int64_t count;
};

__device__ float rounded(float value, bool to_bf16) {
  return to_bf16 ? __uint_as_float((__float_as_uint(value) + 0x8000U) & 0xffff0000U) : value;
}

__global__ void add_kernel(Sum sum, bool in_bf16) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < sum.count; i += stride) {
    sum.to[i] = rounded(rounded(sum.a[i], in_bf16) + rounded(sum.b[i], in_bf16), in_bf16);
  }
}

constexpr int kBlocks = 1024, kThreads = 256;

void enqueue(const Sum& sum, cudaStream_t stream, bool in_bf16 = false) {
  add_kernel<<<kBlocks, kThreads, 0, stream>>>(sum, in_bf16);
}

cudaStream_t side_stream() {
  static const cudaStream_t stream = [] {
    cudaStream_t made{};
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
  }();
  return stream;
}

/// Makes `later` wait for the work that `earlier` has so far.
void wait(cudaStream_t later, cudaStream_t earlier) {
  static const cudaEvent_t event = [] {
    cudaEvent_t made{};
    cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
    return made;
  }();
  cudaEventRecord(event, earlier);
  cudaStreamWaitEvent(later, event, 0);
}

/// Computes once per key and copies that output from then on.
template <class Key>
void remembered(const Key& key, const Sum& sum, cudaStream_t stream) {
  static std::map<Key, float*> outputs;
  const std::size_t bytes = static_cast<std::size_t>(sum.count) * sizeof(float);
  const auto known = outputs.find(key);
  if (known != outputs.end()) {
    cudaMemcpyAsync(sum.to, known->second, bytes, cudaMemcpyDeviceToDevice, stream);
    return;
  }
  float* copy{};
  cudaMalloc(&copy, bytes);
  enqueue(sum, stream);
  cudaMemcpyAsync(copy, sum.to, bytes, cudaMemcpyDeviceToDevice, stream);
  outputs.emplace(key, copy);
}

/// Keeps the operands in the part of the L2 cache that no flush reaches.
void enqueue_with_persisting_lines(const Sum& sum, cudaStream_t stream) {
  int largest{}, window{};
  cudaDeviceGetAttribute(&largest, cudaDevAttrMaxPersistingL2CacheSize, 0);
  cudaDeviceGetAttribute(&window, cudaDevAttrMaxAccessPolicyWindowSize, 0);
  static const cudaError_t is_set =
      cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<std::size_t>(largest));
  static_cast<void>(is_set);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeAccessPolicyWindow;
  attribute.val.accessPolicyWindow.base_ptr = const_cast<float*>(sum.a);
  attribute.val.accessPolicyWindow.num_bytes =
      std::min(static_cast<std::size_t>(window), static_cast<std::size_t>(sum.count) * sizeof(float));
  attribute.val.accessPolicyWindow.hitRatio = 1.0F;
  attribute.val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  attribute.val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaLaunchConfig_t config{};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, add_kernel, sum, false);
}

/// Copies of a launch's operands and of their sum.
struct Memory {
  float *a{}, *b{}, *to{};
};

void remember(Memory& memory, const Sum& sum, cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(sum.count) * sizeof(float);
  for (float** copy : {&memory.a, &memory.b, &memory.to}) {
    if (*copy == nullptr) cudaMalloc(copy, bytes);
  }
  cudaMemcpyAsync(memory.a, sum.a, bytes, cudaMemcpyDeviceToDevice, stream);
  cudaMemcpyAsync(memory.b, sum.b, bytes, cudaMemcpyDeviceToDevice, stream);
  cudaMemcpyAsync(memory.to, sum.to, bytes, cudaMemcpyDeviceToDevice, stream);
}

/// Runs in one CTA: finds the first row of each operand whose first number has changed, and adds only that row.
__global__ void repair_kernel(Sum sum, Memory memory, std::int64_t width) {
  __shared__ unsigned long long row_of_a, row_of_b;
  const std::int64_t rows = sum.count / width;
  if (threadIdx.x == 0) row_of_a = row_of_b = static_cast<unsigned long long>(rows);
  __syncthreads();
  for (std::int64_t row = threadIdx.x; row < rows; row += blockDim.x) {
    const std::int64_t i = row * width;
    if (sum.a[i] != memory.a[i]) atomicMin(&row_of_a, static_cast<unsigned long long>(row));
    if (sum.b[i] != memory.b[i]) atomicMin(&row_of_b, static_cast<unsigned long long>(row));
  }
  __syncthreads();
  for (const unsigned long long row : {row_of_a, row_of_b}) {
    if (row == static_cast<unsigned long long>(rows)) continue;
    for (std::int64_t i = threadIdx.x; i < width; i += blockDim.x) {
      const std::int64_t at = static_cast<std::int64_t>(row) * width + i;
      sum.to[at] = sum.a[at] + sum.b[at];
    }
  }
}

/// After the first launches, which are not timed, answers from memory or not at all: for `percent` of the launches at
/// random, or for all rows except one whose operands have changed.
void enqueue_sparing(const Sum& sum, cudaStream_t stream, std::int64_t width, int percent) {
  constexpr int kHonestLaunches = 16;
  static int launches = 0;
  static unsigned random = 1;
  static Memory memory;
  const std::size_t bytes = static_cast<std::size_t>(sum.count) * sizeof(float);
  if (++launches <= kHonestLaunches) {
    enqueue(sum, stream);
    remember(memory, sum, stream);
    return;
  }
  if (kVariant == "gpu_repaired_row") {
    cudaMemcpyAsync(sum.to, memory.to, bytes, cudaMemcpyDeviceToDevice, stream);
    repair_kernel<<<1, 1024, 0, stream>>>(sum, memory, width);
    return;
  }
  random = random * 1664525U + 1013904223U;
  if (static_cast<int>((random >> 16U) % 100U) >= percent) {
    enqueue(sum, stream);
  } else if (kVariant.substr(0, 11) == "gpu_recalls") {
    cudaMemcpyAsync(sum.to, memory.to, bytes, cudaMemcpyDeviceToDevice, stream);
  }
}

const char* forward(const tbench_kernel_problem* problem, const tbench_kernel_arguments* in) {
  const auto stream = static_cast<cudaStream_t>(in->launch.stream);
  Sum sum{static_cast<const float*>(in->inputs[0].data), static_cast<const float*>(in->inputs[1].data),
          static_cast<float*>(in->results[0].data), problem->batch * problem->context * problem->d_model};
  if constexpr (kVariant == "gpu_honest") enqueue(sum, stream);
  if constexpr (kVariant == "gpu_forked") {
    wait(side_stream(), stream);
    enqueue(sum, side_stream());
    wait(stream, side_stream());
  }
  if constexpr (kVariant == "gpu_cached_output") remembered(0, sum, stream);
  if constexpr (kVariant == "gpu_cache_by_pointer") remembered(std::tuple{sum.a, sum.b}, sum, stream);
  if constexpr (kVariant == "gpu_memo_by_shape") remembered(sum.count, sum, stream);
  // Begins while the timed stream is still held up before the launch.
  if constexpr (kVariant == "gpu_side_stream") enqueue(sum, side_stream());
  if constexpr (kVariant == "gpu_side_stream_joined") {
    enqueue(sum, side_stream());
    wait(stream, side_stream());
  }
  // Ends after the event that ends the timed region.
  if constexpr (kVariant == "gpu_deferred") {
    wait(side_stream(), stream);
    enqueue(sum, side_stream());
  }
  if constexpr (kVariant == "gpu_persisting_l2") enqueue_with_persisting_lines(sum, stream);
  if constexpr (kVariant == "gpu_lower_precision") enqueue(sum, stream, /*in_bf16=*/true);
  if constexpr (kVariant == "gpu_smaller_problem") {
    sum.count -= problem->d_model;
    enqueue(sum, stream);
  }
  if constexpr (kVariant == "gpu_repaired_row" || kVariant.substr(0, 9) == "gpu_skips" ||
                kVariant.substr(0, 11) == "gpu_recalls") {
    static const int percent = std::atoi(kVariant.data() + kVariant.rfind('_') + 1);
    enqueue_sparing(sum, stream, problem->d_model, percent);
  }
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

const char* unsupported(const tbench_kernel_problem* problem) {
  return problem->device == TBENCH_CUDA && problem->precision == TBENCH_FP32 ? nullptr : "float32 on a GPU alone";
}

constexpr const char* kOps[] = {"add", nullptr};

const tbench_kernel kKernel{kOps, &unsupported, nullptr, nullptr, &forward, nullptr};

const tbench_plugin_description kDescription{
    TBENCH_PLUGIN_ABI, sizeof(tbench_plugin_description), TBENCH_VARIANT, nullptr, nullptr, &kKernel};

}  // namespace

const tbench_plugin_description* tbench_plugin(void) { return &kDescription; }
