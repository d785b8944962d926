// The project's own attention kernels as a plug-in, `flash_plugin`. Its difference to `flash` is the cost of the
// plug-in interface per launch.
#include <cuda_runtime_api.h>

#include <optional>
#include <string>

#include "tbench/kernels/attention.hpp"
#include "tbench/plugin.h"

namespace {

using namespace tbench;

Precision precision_of(const tbench_attention_problem& problem) { return static_cast<Precision>(problem.precision); }
static_assert(static_cast<int>(Precision::kFp32) == TBENCH_FP32 && static_cast<int>(Precision::kTf32) == TBENCH_TF32 &&
              static_cast<int>(Precision::kBf16) == TBENCH_BF16 && static_cast<int>(Precision::kFp16) == TBENCH_FP16);

kernels::AttentionProblem problem_of(const tbench_attention_problem& problem) {
  return {.shape = {.batch = problem.batch,
                    .heads = problem.heads,
                    .seq_q = problem.seq_q,
                    .seq_kv = problem.seq_kv,
                    .head_dim = problem.head_dim,
                    .causal = problem.causal != 0},
          .precision = precision_of(problem),
          .scale = static_cast<float>(problem.scale),
          .deterministic = false};
}

kernels::TensorView view_of(const tbench_tensor& tensor) {
  return {.data = tensor.data, .strides = {tensor.strides[0], tensor.strides[1], tensor.strides[2]}};
}

/// Keeps the message of the last exception, which is valid until the next call.
const char* kept(std::string message) {
  static std::string text;
  text = std::move(message);
  return text.c_str();
}

template <class Action>
const char* caught(const Action& action) {
  try {
    action();
    return nullptr;
  } catch (const std::exception& error) {
    return kept(error.what());
  }
}

const char* unsupported(const tbench_attention_problem* problem) {
  if (problem->device != TBENCH_CUDA) return "flash_plugin has no CPU kernel";
  const auto reason = kernels::attention_unsupported_reason(problem_of(*problem), kernels::current_device_limits());
  return reason ? kept(*reason) : nullptr;
}

kernels::AttentionProblem contiguous(const tbench_attention_problem& problem) {
  kernels::AttentionProblem all = problem_of(problem);
  all.layout = kernels::contiguous_layout(all.shape);
  return all;
}

std::int64_t forward_bytes(const tbench_attention_problem* problem) {
  return static_cast<std::int64_t>(
      plan_attention_forward(contiguous(*problem), kernels::current_device_limits()).workspace_bytes());
}

std::int64_t backward_bytes(const tbench_attention_problem* problem) {
  return static_cast<std::int64_t>(
      plan_attention_backward(contiguous(*problem), kernels::current_device_limits()).workspace_bytes());
}

const char* forward(const tbench_attention_problem* problem, const tbench_attention_forward* in) {
  return caught([&] {
    const kernels::AttentionForward arguments{.q = view_of(in->q),
                                              .k = view_of(in->k),
                                              .v = view_of(in->v),
                                              .o = view_of(in->o),
                                              .lse = static_cast<float*>(in->lse.data),
                                              .workspace = in->launch.workspace};
    kernels::AttentionProblem all = problem_of(*problem);
    all.layout = layout_of(arguments);
    attention_forward(plan_attention_forward(all, kernels::current_device_limits()), arguments,
                      static_cast<cudaStream_t>(in->launch.stream));
  });
}

const char* backward(const tbench_attention_problem* problem, const tbench_attention_backward* in) {
  return caught([&] {
    const kernels::AttentionBackward arguments{.q = view_of(in->q),
                                               .k = view_of(in->k),
                                               .v = view_of(in->v),
                                               .o = view_of(in->o),
                                               .lse = static_cast<const float*>(in->lse.data),
                                               .grad_o = view_of(in->grad_o),
                                               .dq = view_of(in->dq),
                                               .dk = view_of(in->dk),
                                               .dv = view_of(in->dv),
                                               .workspace = in->launch.workspace};
    kernels::AttentionProblem all = problem_of(*problem);
    all.layout = layout_of(arguments);
    attention_backward(plan_attention_backward(all, kernels::current_device_limits()), arguments,
                       static_cast<cudaStream_t>(in->launch.stream));
  });
}

const tbench_attention kAttention{.gives_lse = 1,
                                  .unsupported = &unsupported,
                                  .forward_workspace_bytes = &forward_bytes,
                                  .backward_workspace_bytes = &backward_bytes,
                                  .saved_bytes = nullptr,
                                  .forward = &forward,
                                  .backward = &backward};

const tbench_plugin_description kDescription{.abi = TBENCH_PLUGIN_ABI,
                                             .bytes = sizeof(tbench_plugin_description),
                                             .name = "flash_plugin",
                                             .attention = &kAttention,
                                             .gemm = nullptr,
                                             .kernel = nullptr};

}  // namespace

const tbench_plugin_description* tbench_plugin(void) { return &kDescription; }
