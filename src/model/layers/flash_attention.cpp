#include "model/layers/flash_attention.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "tbench/kernels/attention.hpp"

namespace tbench::model {
namespace {

/// Checks that a tensor has the precision's type and is contiguous in head_dim, as the kernels require.
/// @throws  std::invalid_argument  if the type or the stride is wrong
void check_operand(const char* name, const at::Tensor& tensor, Precision precision) {
  const at::ScalarType expected = precision == Precision::kBf16   ? at::kBFloat16
                                  : precision == Precision::kFp16 ? at::kHalf
                                                                  : at::kFloat;
  if (tensor.scalar_type() != expected) {
    throw std::invalid_argument{fmt::format("flash attention in {}: {} is {}, expected {}: convert it with to()",
                                            to_string(precision), name, c10::toString(tensor.scalar_type()),
                                            c10::toString(expected))};
  }
  if (tensor.stride(-1) != 1) {
    throw std::invalid_argument{
        fmt::format("flash attention: the last dimension of {} has stride {}, expected 1: call contiguous() first",
                    name, tensor.stride(-1))};
  }
}

kernels::AttentionProblem problem_of(const at::Tensor& q, const at::Tensor& k, const FlashOptions& options) {
  const std::int64_t heads = q.size(1), kv_heads = k.size(1);
  return {.shape = {.batch = q.size(0),
                    .heads = heads,
                    .seq_q = q.size(2),
                    .seq_kv = k.size(2),
                    .head_dim = q.size(3),
                    .causal = options.causal,
                    .kv_heads = kv_heads == heads ? 0 : kv_heads},
          .precision = options.precision,
          .scale = static_cast<float>(options.scale),
          .deterministic = options.deterministic};
}

kernels::TensorView view_of(const at::Tensor& tensor) {
  return {.data = tensor.data_ptr(), .strides = {tensor.stride(0), tensor.stride(1), tensor.stride(2)}};
}

/// Returns a workspace of `bytes` bytes, or an undefined tensor for 0 bytes.
at::Tensor workspace_of(std::size_t bytes, const at::Tensor& like) {
  return bytes > 0 ? at::empty({static_cast<std::int64_t>(bytes)}, like.options().dtype(at::kByte)) : at::Tensor{};
}

void* pointer_to(const at::Tensor& workspace) { return workspace.defined() ? workspace.data_ptr() : nullptr; }

using MakePlan = kernels::AttentionPlan(const kernels::AttentionProblem&, const kernels::DeviceLimits&);

/// Returns a plan, cached per thread and pass. The layers and steps of a model repeat one problem, so each pass is
/// planned once; operands of another shape or layout replace the cached plan.
template <MakePlan kMakePlan>
kernels::AttentionPlan plan_once(const kernels::AttentionProblem& problem) {
  struct Made {
    kernels::DeviceLimits limits;
    kernels::AttentionPlan plan;
  };
  thread_local std::optional<Made> last;
  const kernels::DeviceLimits limits = kernels::current_device_limits();
  if (!last || last->limits != limits || last->plan.problem() != problem) {
    last = Made{limits, kMakePlan(problem, limits)};
  }
  return last->plan;
}

class FlashFunction final : public torch::autograd::Function<FlashFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const FlashOptions& options) {
    FlashOutput output = flash_forward(q, k, v, options);
    context->save_for_backward({q, k, v, output.o, output.lse});
    context->saved_data["causal"] = options.causal;
    context->saved_data["scale"] = options.scale;
    context->saved_data["precision"] = static_cast<std::int64_t>(options.precision);
    context->saved_data["deterministic"] = options.deterministic;
    return std::move(output.o);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const FlashOptions options{.causal = context->saved_data["causal"].toBool(),
                               .scale = context->saved_data["scale"].toDouble(),
                               .precision = static_cast<Precision>(context->saved_data["precision"].toInt()),
                               .deterministic = context->saved_data["deterministic"].toBool()};
    FlashGradients result =
        flash_backward(gradients[0], saved[0], saved[1], saved[2], {.o = saved[3], .lse = saved[4]}, options);
    return {std::move(result.dq), std::move(result.dk), std::move(result.dv), at::Tensor{}};
  }
};

}  // namespace

std::optional<std::string> flash_unsupported_reason(const AttentionShape& shape, Precision precision) {
  constexpr float kAnyScale = 1.0F;
  return kernels::attention_unsupported_reason({.shape = shape, .precision = precision, .scale = kAnyScale},
                                               kernels::current_device_limits());
}

FlashOutput flash_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const FlashOptions& options) {
  check_operand("q", q, options.precision);
  check_operand("k", k, options.precision);
  check_operand("v", v, options.precision);
  kernels::AttentionProblem problem = problem_of(q, k, options);
  FlashOutput output{.o = at::empty_like(q),
                     .lse = at::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(at::kFloat))};
  kernels::AttentionForward arguments{
      .q = view_of(q), .k = view_of(k), .v = view_of(v), .o = view_of(output.o), .lse = output.lse.data_ptr<float>()};
  problem.layout = kernels::layout_of(arguments);
  const kernels::AttentionPlan plan = plan_once<&kernels::plan_attention_forward>(problem);
  const at::Tensor workspace = workspace_of(plan.workspace_bytes(), q);
  arguments.workspace = pointer_to(workspace);
  kernels::attention_forward(plan, arguments, c10::cuda::getCurrentCUDAStream());
  return output;
}

FlashGradients flash_backward(const at::Tensor& grad_o, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const FlashOutput& output, const FlashOptions& options) {
  check_operand("q", q, options.precision);
  check_operand("k", k, options.precision);
  check_operand("v", v, options.precision);
  check_operand("o", output.o, options.precision);
  kernels::AttentionProblem problem = problem_of(q, k, options);
  const at::Tensor dense_grad_o = grad_o.stride(-1) == 1 ? grad_o : grad_o.contiguous();
  check_operand("grad_o", dense_grad_o, options.precision);
  FlashGradients gradients{.dq = at::empty_like(q), .dk = at::empty_like(k), .dv = at::empty_like(v)};
  kernels::AttentionBackward arguments{.q = view_of(q),
                                       .k = view_of(k),
                                       .v = view_of(v),
                                       .o = view_of(output.o),
                                       .lse = output.lse.data_ptr<float>(),
                                       .grad_o = view_of(dense_grad_o),
                                       .dq = view_of(gradients.dq),
                                       .dk = view_of(gradients.dk),
                                       .dv = view_of(gradients.dv)};
  problem.layout = kernels::layout_of(arguments);
  const kernels::AttentionPlan plan = plan_once<&kernels::plan_attention_backward>(problem);
  const at::Tensor workspace = workspace_of(plan.workspace_bytes(), q);
  arguments.workspace = pointer_to(workspace);
  kernels::attention_backward(plan, arguments, c10::cuda::getCurrentCUDAStream());
  return gradients;
}

at::Tensor flash_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const FlashOptions& options) {
  return FlashFunction::apply(q, k, v, options);
}

}  // namespace tbench::model
