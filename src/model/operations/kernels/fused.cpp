#include "model/operations/kernels/implementation.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAStream.h>

#include <utility>

#include "model/layers/layers.hpp"
#include "model/torch/scopes.hpp"
#include "model/training/optimizer.hpp"
#include "tbench/kernels/adamw.hpp"
#include "tbench/kernels/cross_entropy.hpp"
#include "tbench/kernels/embedding.hpp"
#include "tbench/kernels/rmsnorm.hpp"
#include "tbench/kernels/rope.hpp"
#include "tbench/kernels/swiglu.hpp"

namespace tbench::model {
namespace {

cudaStream_t own_stream() { return c10::cuda::getCurrentCUDAStream(); }

at::Tensor floats_beside(const at::Tensor& tensor, at::IntArrayRef shape) {
  return at::empty(shape, tensor.options().dtype(at::kFloat));
}

// rmsnorm and add_rmsnorm

kernels::NormShape norm_shape(const at::Tensor& x, const kernels::NormTypes& types) {
  return {.rows = x.size(0), .width = x.size(1), .types = types, .epsilon = static_cast<float>(kRmsNormEpsilon)};
}

kernels::NormTypes plain_types(const KernelConfig& config) {
  return {.stream = config.precision, .branch = config.precision, .weight = config.precision};
}
kernels::NormTypes residual_types(const KernelConfig& config) {
  return {.stream = Precision::kFp32, .branch = config.precision, .weight = Precision::kFp32};
}

struct NormOutputs {
  at::Tensor sum, normed, rstd;  // sum is undefined without a sublayer
};

NormOutputs own_norm_forward(const at::Tensor& x, const at::Tensor& sublayer, const at::Tensor& w,
                             const kernels::NormTypes& types) {
  NormOutputs outputs{.sum = sublayer.defined() ? at::empty_like(x) : at::Tensor{},
                      .normed = at::empty_like(sublayer.defined() ? sublayer : x),
                      .rstd = floats_beside(x, {x.size(0)})};
  kernels::norm_forward(norm_shape(x, types),
                        {.x = x.const_data_ptr(),
                         .branch = sublayer.defined() ? sublayer.const_data_ptr() : nullptr,
                         .weight = w.const_data_ptr(),
                         .sum = outputs.sum.defined() ? outputs.sum.mutable_data_ptr() : nullptr,
                         .normed = outputs.normed.mutable_data_ptr(),
                         .rstd = outputs.rstd.mutable_data_ptr<float>()},
                        own_stream());
  return outputs;
}

struct NormGradientInputs {
  at::Tensor sum, w, rstd, dnormed, dsum;  // dsum may be undefined
};

/// Returns dx, the sublayer's gradient (dx itself if it has the same type), and dw.
std::vector<at::Tensor> own_norm_backward(const NormGradientInputs& in, const kernels::NormTypes& types) {
  const kernels::NormShape shape = norm_shape(in.sum, types);
  const at::Tensor dx = at::empty_like(in.sum), dw = at::empty_like(in.w);
  const at::Tensor dsublayer = types.branch == types.stream ? dx : at::empty_like(in.dnormed);
  const at::Tensor workspace = floats_beside(in.sum, {kernels::norm_workspace_bytes(shape) / 4});
  kernels::norm_backward(shape,
                         {.sum = in.sum.const_data_ptr(),
                          .weight = in.w.const_data_ptr(),
                          .rstd = in.rstd.const_data_ptr<float>(),
                          .dnormed = in.dnormed.const_data_ptr(),
                          .dsum = in.dsum.defined() ? in.dsum.const_data_ptr() : nullptr,
                          .dx = dx.mutable_data_ptr(),
                          .dbranch = types.branch == types.stream ? nullptr : dsublayer.mutable_data_ptr(),
                          .dweight = dw.mutable_data_ptr(),
                          .workspace = workspace.mutable_data_ptr<float>()},
                         own_stream());
  return {dx, dsublayer, dw};
}

/// Saves rstd for a backward pass; own_add_rmsnorm_prepare() also saves the sum.
void own_rmsnorm_prepare(KernelOperands& operands) {
  if (operands.config.pass == KernelPass::kForward) return;
  const std::vector<at::Tensor>& in = operands.inputs;
  operands.saved = {own_norm_forward(in[0], {}, in[1], plain_types(operands.config)).rstd};
}

void own_add_rmsnorm_prepare(KernelOperands& operands) {
  if (operands.config.pass == KernelPass::kForward) return;
  const std::vector<at::Tensor>& in = operands.inputs;
  NormOutputs outputs = own_norm_forward(in[0], in[1], in[2], residual_types(operands.config));
  operands.saved = {std::move(outputs.sum), std::move(outputs.rstd)};
}

// rope and rope_qkv: `parts` tensors of heads in one tensor, either as a product [batch, context, parts, heads,
// head_dim] or consecutively [parts, batch, heads, context, head_dim]

/// Saves the table as two halves: cos and sin, each [context, head_dim / 2].
void own_rope_prepare(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  RopeTable table = make_rope_table(config.context, config.size.head_dim(),
                                    at::TensorOptions{}.device(torch_device(config.device)).dtype(at::kFloat));
  operands.saved = {std::move(table.cos), std::move(table.sin)};
}

kernels::RopeProblem rope_problem(const KernelOperands& operands, int parts) {
  const KernelConfig& config = operands.config;
  return {.batch = config.batch,
          .heads = config.size.num_heads,
          .seq = config.context,
          .head_dim = config.size.head_dim(),
          .precision = config.precision,
          .parts = parts,
          .turned = 2,
          .from = {},
          .to = {},
          .cos = operands.saved[0].const_data_ptr<float>(),
          .sin = operands.saved[1].const_data_ptr<float>(),
          .backward = config.pass == KernelPass::kBackward};
}

/// Returns the address of a tensor's element 0. The kernels do not write to their inputs through it.
void* data_of(const at::Tensor& tensor) { return const_cast<void*>(tensor.const_data_ptr()); }

void view_product(std::array<kernels::TensorView, kernels::kRopeMaxParts>& views, const kernels::RopeProblem& problem,
                  const at::Tensor& product) {
  for (int part = 0; part < problem.parts; ++part) {
    views.at(static_cast<std::size_t>(part)) = kernels::packed_part(data_of(product), problem, part);
  }
}

void view_heads(std::array<kernels::TensorView, kernels::kRopeMaxParts>& views, const kernels::RopeProblem& problem,
                const at::Tensor& heads) {
  for (int part = 0; part < problem.parts; ++part) {
    views.at(static_cast<std::size_t>(part)) = kernels::contiguous_heads(data_of(heads.select(0, part)), problem);
  }
}

std::vector<at::Tensor> own_rope(const KernelOperands& operands) {
  kernels::RopeProblem problem = rope_problem(operands, 2);
  const at::Tensor& from = problem.backward ? operands.gradients[0] : operands.inputs[0];
  const at::Tensor to = at::empty_like(from);
  view_product(problem.from, problem, from);
  view_product(problem.to, problem, to);
  kernels::rope(problem, own_stream());
  return {to};
}

std::vector<at::Tensor> own_rope_qkv_forward(const KernelOperands& operands) {
  kernels::RopeProblem problem = rope_problem(operands, 3);
  const at::Tensor& product = operands.inputs[0];
  const at::Tensor heads =
      at::empty({3, problem.batch, problem.heads, problem.seq, problem.head_dim}, product.options());
  view_product(problem.from, problem, product);
  view_heads(problem.to, problem, heads);
  kernels::rope(problem, own_stream());
  return {heads};
}

std::vector<at::Tensor> own_rope_qkv_backward(const KernelOperands& operands) {
  kernels::RopeProblem problem = rope_problem(operands, 3);
  const at::Tensor& heads = operands.gradients[0];
  const at::Tensor product =
      at::empty({problem.batch, problem.seq, 3, problem.heads, problem.head_dim}, heads.options());
  view_heads(problem.from, problem, heads);
  view_product(problem.to, problem, product);
  kernels::rope(problem, own_stream());
  return {product};
}

// swiglu and swiglu_packed

kernels::SwigluShape swiglu_shape(const KernelConfig& config) {
  return {.rows = config.tokens(), .width = config.size.d_ff, .precision = config.precision};
}

at::Tensor empty_h(const KernelConfig& config, const at::Tensor& beside) {
  return at::empty({config.tokens(), config.size.d_ff}, beside.options());
}

/// Returns gate and up as a pair: two matrices, or the halves of one.
template <class Pointer>
kernels::GatedPair<Pointer> gated_pair(const at::Tensor& gate, const at::Tensor& up) {
  return {.gate = data_of(gate), .up = data_of(up), .stride = gate.stride(0)};
}

at::Tensor own_swiglu_h(const KernelOperands& operands, const at::Tensor& gate, const at::Tensor& up) {
  at::Tensor h = empty_h(operands.config, gate);
  kernels::swiglu_forward(swiglu_shape(operands.config), gated_pair<const void*>(gate, up), h.mutable_data_ptr(),
                          own_stream());
  return h;
}

std::vector<at::Tensor> own_swiglu_backward(const KernelOperands& operands) {
  const at::Tensor &gate = operands.inputs[0], &up = operands.inputs[1];
  const at::Tensor dgate = at::empty_like(gate), dup = at::empty_like(up);
  kernels::swiglu_backward(swiglu_shape(operands.config),
                           {.inputs = gated_pair<const void*>(gate, up),
                            .dh = operands.gradients[0].const_data_ptr(),
                            .gradients = gated_pair<void*>(dgate, dup),
                            .h = nullptr},
                           own_stream());
  return {dgate, dup};
}

std::vector<at::Tensor> own_swiglu_packed_forward(const KernelOperands& operands) {
  const std::vector<at::Tensor> halves = operands.inputs[0].chunk(2, -1);
  return {own_swiglu_h(operands, halves[0], halves[1])};
}

std::vector<at::Tensor> own_swiglu_packed_backward(const KernelOperands& operands) {
  const std::vector<at::Tensor> halves = operands.inputs[0].chunk(2, -1);
  const std::vector<at::Tensor> gradients = at::empty_like(operands.inputs[0]).chunk(2, -1);
  const at::Tensor h = empty_h(operands.config, halves[0]);
  kernels::swiglu_backward(swiglu_shape(operands.config),
                           {.inputs = gated_pair<const void*>(halves[0], halves[1]),
                            .dh = operands.gradients[0].const_data_ptr(),
                            .gradients = gated_pair<void*>(gradients[0], gradients[1]),
                            .h = h.mutable_data_ptr()},
                           own_stream());
  return {gradients[0], gradients[1], h};
}

std::vector<at::Tensor> own_cross_entropy_in_place(const KernelOperands& operands) {
  const at::Tensor& logits = operands.inputs[0];
  const at::Tensor losses = floats_beside(logits, {logits.size(0)});
  kernels::cross_entropy({.rows = logits.size(0),
                          .width = logits.size(1),
                          .precision = operands.config.precision,
                          .logits = logits.const_data_ptr(),
                          .targets = operands.inputs[1].const_data_ptr<std::int64_t>(),
                          .gradient = data_of(logits),
                          .factor = 1.0F,
                          .scale = nullptr,
                          .losses = losses.mutable_data_ptr<float>(),
                          .lse = nullptr},
                         own_stream());
  return {losses, logits};
}

kernels::EmbeddingShape embedding_shape(const KernelConfig& config) {
  return {
      .tokens = config.tokens(), .vocab_size = kVocabSize, .width = config.size.d_model, .precision = config.precision};
}

std::vector<at::Tensor> own_embedding_forward(const KernelOperands& operands) {
  const at::Tensor &table = operands.inputs[0], &ids = operands.inputs[1];
  const at::Tensor rows = at::empty({ids.size(0), table.size(1)}, table.options());
  kernels::embedding_forward(embedding_shape(operands.config), ids.const_data_ptr<std::int64_t>(),
                             table.const_data_ptr(), rows.mutable_data_ptr(), own_stream());
  return {rows};
}

std::vector<at::Tensor> own_embedding_backward(const KernelOperands& operands) {
  const at::Tensor dtable = at::empty_like(operands.inputs[0]);
  kernels::embedding_backward(embedding_shape(operands.config), operands.inputs[1].const_data_ptr<std::int64_t>(),
                              operands.gradients[0].const_data_ptr(), dtable.mutable_data_ptr(), own_stream());
  return {dtable};
}

}  // namespace

std::optional<std::string> fused_kernel_refusal(const KernelConfig& config) {
  if (config.device == DeviceKind::kCuda) return std::nullopt;
  return "impl:fused is CUDA kernels: it needs a GPU";
}

void own_adamw(const FusedAdamWLists& lists, const at::Tensor& step, Precision copy_precision) {
  const AdamWOptions options;
  std::vector<kernels::AdamWTensor> tensors;
  for (std::size_t i = 0; i < lists.parameters.size(); ++i) {
    tensors.push_back({.parameter = lists.parameters[i].mutable_data_ptr<float>(),
                       .gradient = lists.gradients[i].const_data_ptr<float>(),
                       .first_moment = lists.first_moments[i].mutable_data_ptr<float>(),
                       .second_moment = lists.second_moments[i].mutable_data_ptr<float>(),
                       .copy = lists.copies.empty() ? nullptr : lists.copies[i].mutable_data_ptr(),
                       .count = lists.parameters[i].numel()});
  }
  kernels::adamw(tensors,
                 {.learning_rate = options.learning_rate,
                  .beta1 = options.beta1,
                  .beta2 = options.beta2,
                  .epsilon = options.epsilon,
                  .weight_decay = options.weight_decay,
                  .copy_precision = lists.copies.empty() ? Precision::kBf16 : copy_precision,
                  .step = step.const_data_ptr<float>(),
                  .found_inf = nullptr,
                  .gradient_scale = nullptr},
                 own_stream());
}

KernelImpl rmsnorm_fused() {
  return {.name = "fused",
          .unsupported_reason = &fused_kernel_refusal,
          .prepare = &own_rmsnorm_prepare,
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            const std::vector<at::Tensor>& in = operands.inputs;
            return {own_norm_forward(in[0], {}, in[1], plain_types(operands.config)).normed};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            std::vector<at::Tensor> results = own_norm_backward({.sum = operands.inputs[0],
                                                                 .w = operands.inputs[1],
                                                                 .rstd = operands.saved[0],
                                                                 .dnormed = operands.gradients[0],
                                                                 .dsum = {}},
                                                                plain_types(operands.config));
            return {results[0], results[2]};
          }};
}

KernelImpl add_rmsnorm_fused() {
  return {.name = "fused",
          .unsupported_reason = &fused_kernel_refusal,
          .prepare = &own_add_rmsnorm_prepare,
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            const std::vector<at::Tensor>& in = operands.inputs;
            NormOutputs outputs = own_norm_forward(in[0], in[1], in[2], residual_types(operands.config));
            return {outputs.sum, outputs.normed};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return own_norm_backward({.sum = operands.saved[0],
                                      .w = operands.inputs[2],
                                      .rstd = operands.saved[1],
                                      .dnormed = operands.gradients[1],
                                      .dsum = operands.gradients[0]},
                                     residual_types(operands.config));
          }};
}

KernelImpl rope_fused() {
  return {.name = "fused",
          .unsupported_reason = &fused_kernel_refusal,
          .prepare = &own_rope_prepare,
          .forward = &own_rope,
          .backward = &own_rope};
}

KernelImpl rope_qkv_fused() {
  return {.name = "fused",
          .unsupported_reason = &fused_kernel_refusal,
          .prepare = &own_rope_prepare,
          .forward = &own_rope_qkv_forward,
          .backward = &own_rope_qkv_backward};
}

KernelImpl swiglu_fused() {
  return {.name = "fused",
          .unsupported_reason = &fused_kernel_refusal,
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {own_swiglu_h(operands, operands.inputs[0], operands.inputs[1])};
          },
          .backward = &own_swiglu_backward};
}

KernelImpl swiglu_packed_fused() {
  return {.name = "fused",
          .unsupported_reason = &fused_kernel_refusal,
          .forward = &own_swiglu_packed_forward,
          .backward = &own_swiglu_packed_backward};
}

KernelImpl embedding_fused() {
  return {.name = "fused",
          .unsupported_reason = &fused_kernel_refusal,
          .forward = &own_embedding_forward,
          .backward = &own_embedding_backward};
}

KernelImpl cross_entropy_in_place_fused() {
  return {.name = "fused", .unsupported_reason = &fused_kernel_refusal, .forward = &own_cross_entropy_in_place};
}

}  // namespace tbench::model
