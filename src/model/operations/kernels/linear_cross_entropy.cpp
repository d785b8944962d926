// linear_cross_entropy: the LM head with its loss, forward and backward: every token's loss, and the gradients of the
// losses' sum for the head's input and weight. Inputs: x [tokens, d_model], normal; weight [vocab_size, d_model],
// normal with a variance of 1 / d_model, so that logits have a variance of 1; targets [tokens] int64. Results: losses
// [tokens] float32, dx like x, dweight like weight. Three matrix products of equal size take nearly all of its time.
#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <memory>

#include "model/fused/chunked_head.hpp"
#include "model/operations/kernels/implementation.hpp"
#include "model/operations/kernels/linear_cross_entropy.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench::model {
namespace {

/// Returns the traffic. The logits need not leave the chip, and dweight has the precision's type at least.
KernelBytes linear_cross_entropy_bytes(const KernelConfig& config) {
  constexpr std::int64_t kTokenTargetBytes = 8, kTokenLossBytes = 4;
  const std::int64_t element = storage_bytes(config.precision);
  const std::int64_t rows = config.tokens() * config.size.d_model * element;
  const std::int64_t weight = config.size.vocab_size * config.size.d_model * element;
  return {.read = rows + weight + config.tokens() * kTokenTargetBytes,
          .written = rows + weight + config.tokens() * kTokenLossBytes};
}

/// Returns the FLOP of the logits and of both gradients.
Flop linear_cross_entropy_flop(const KernelConfig& config) {
  constexpr double kProducts = 3, kFlopPerTerm = 2;
  return Flop{kProducts * kFlopPerTerm * static_cast<double>(config.tokens()) *
              static_cast<double>(config.size.d_model) * static_cast<double>(config.size.vocab_size)};
}

double input_deviation(const KernelConfig& config, std::size_t input) {
  constexpr std::size_t kWeight = 1;
  return input == kWeight ? 1.0 / std::sqrt(static_cast<double>(config.size.d_model)) : 1.0;
}

void linear_cross_entropy_fill(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  add_normal_input(operands, {config.tokens(), config.size.d_model});
  add_normal_input(operands, {config.size.vocab_size, config.size.d_model}).mul_(input_deviation(config, 1));
  add_token_input(operands);
}

/// Runs the operators of a step under autocast: the linear layer in the precision's type, the loss in float32, and
/// autograd.
std::vector<at::Tensor> linear_cross_entropy_by_autograd(const KernelOperands& operands) {
  const at::AutoGradMode with_graph{true};
  const BackwardOnThisThread here;
  const at::Tensor x = operands.inputs[0].detach().requires_grad_(true);
  const at::Tensor weight = operands.inputs[1].detach().requires_grad_(true);
  const at::Tensor losses = at::cross_entropy_loss(at::linear(x, weight).to(at::kFloat), operands.inputs[2],
                                                   /*weight=*/{}, at::Reduction::None);
  const std::vector<at::Tensor> gradients =
      torch::autograd::grad({losses}, {x, weight}, {at::ones_like(losses.detach())});
  return {losses.detach(), gradients[0], gradients[1]};
}

/// The head, made once per case, with the workspaces of its products.
struct OwnHead {
  explicit OwnHead(const KernelConfig& config)
      : shape{.tokens = config.tokens(),
              .d_model = config.size.d_model,
              .vocab_size = config.size.vocab_size,
              .precision = config.precision},
        library{torch_device(config.device), /*has_side_stream=*/false},
        head{library, shape} {}

  HeadShape shape;
  ProductLibrary library;
  ChunkedHead head;
};

std::vector<at::Tensor> run_own_head(const KernelOperands& operands) {
  auto& own = *static_cast<OwnHead*>(operands.made.get());
  HeadResults results = make_head_results(operands, own.shape);
  own.head.run(head_operands(operands, results));
  return {results.losses, results.dx, results.dweight};
}

/// Makes the head and runs it once, so that no later launch has to select an algorithm.
void prepare_own_head(KernelOperands& operands) {
  if (operands.made) return;
  operands.made = std::make_shared<OwnHead>(operands.config);
  run_own_head(operands);
}

}  // namespace

HeadResults make_head_results(const KernelOperands& operands, const HeadShape& shape) {
  const at::Tensor &x = operands.inputs[0], &weight = operands.inputs[1];
  return {.losses = at::empty({shape.tokens}, x.options().dtype(at::kFloat)),
          .dx = at::empty_like(x),
          .dweight = at::empty_like(weight, weight.options().dtype(head_gradient_type(shape))),
          .logits = at::empty({head_chunks(shape).rows, shape.vocab_size}, x.options())};
}

HeadOperands head_operands(const KernelOperands& operands, HeadResults& results) {
  return {.x = operands.inputs[0].const_data_ptr(),
          .weight = operands.inputs[1].const_data_ptr(),
          .targets = operands.inputs[2].const_data_ptr<std::int64_t>(),
          .factor = 1.0F,
          .scale = nullptr,
          .logits = results.logits.mutable_data_ptr(),
          .dx = results.dx.mutable_data_ptr(),
          .dweight = results.dweight.mutable_data_ptr(),
          .losses = results.losses.mutable_data_ptr<float>(),
          .lse = nullptr};
}

KernelImpl linear_cross_entropy_fused() {
  return {.name = "fused",
          .unsupported_reason = &fused_kernel_refusal,
          .prepare = &prepare_own_head,
          .forward = &run_own_head};
}

KernelOp linear_cross_entropy_kernel_op() {
  return {.name = "linear_cross_entropy",
          .passes = {KernelPass::kForward},
          .pass_refusal = "its forward pass also computes the gradients",
          .takes_any_size = true,
          .bytes = &linear_cross_entropy_bytes,
          .flop = &linear_cross_entropy_flop,
          .input_deviation = &input_deviation,
          .fill = &linear_cross_entropy_fill,
          .expect = &linear_cross_entropy_expect,
          .impls = {"impl",
                    {{.name = "aten", .forward = &linear_cross_entropy_by_autograd}, linear_cross_entropy_fused()}}};
}

}  // namespace tbench::model
