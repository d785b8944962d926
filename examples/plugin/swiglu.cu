// A kernel of one's own beside the built-in ones: h = silu(gate) * up in float32, on a GPU and on the CPU.
#include <cuda_runtime.h>

#include <cmath>

#include "tbench/plugin.h"

namespace {

__host__ __device__ float swiglu(float gate, float up) { return gate / (1.0F + expf(-gate)) * up; }

__global__ void swiglu_kernel(const float* gate, const float* up, float* h, int64_t count) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    h[i] = swiglu(gate[i], up[i]);
  }
}

// A reason here makes the case `unsupported`.
const char* unsupported(const tbench_kernel_problem* problem) {
  return problem->precision == TBENCH_FP32 ? nullptr : "this kernel has float32 alone";
}

// Enqueues one launch; a message returned makes the case `crashed`.
const char* forward(const tbench_kernel_problem* problem, const tbench_kernel_arguments* arguments) {
  const auto* gate = static_cast<const float*>(arguments->inputs[0].data);  // [tokens, d_ff]
  const auto* up = static_cast<const float*>(arguments->inputs[1].data);    // [tokens, d_ff]
  auto* h = static_cast<float*>(arguments->results[0].data);                // [tokens, d_ff]
  const int64_t count = problem->batch * problem->context * problem->d_ff;
  if (problem->device == TBENCH_CPU) {
    for (int64_t i = 0; i < count; ++i) h[i] = swiglu(gate[i], up[i]);
    return nullptr;
  }
  constexpr int kThreads = 256, kBlocks = 2048;
  swiglu_kernel<<<kBlocks, kThreads, 0, static_cast<cudaStream_t>(arguments->launch.stream)>>>(gate, up, h, count);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

const char* const kOps[] = {"swiglu", nullptr};

const tbench_kernel kKernel{
    kOps,     &unsupported,
    nullptr,  // no workspace
    nullptr,  // nothing saved for a backward pass
    &forward,
    nullptr,  // no backward: those cases are `unsupported`
};

const tbench_plugin_description kDescription{
    TBENCH_PLUGIN_ABI,
    sizeof(tbench_plugin_description),
    "mine",   // the cases are called Kernel/op:swiglu/.../impl:mine
    nullptr,  // joins neither Attention
    nullptr,  // nor Gemm
    &kKernel,
};

}  // namespace

const tbench_plugin_description* tbench_plugin(void) { return &kDescription; }
