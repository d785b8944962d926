// Injected faults of the loss, the gradients and the optimizer.
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>

#include "tests/model/training/planted_faults.hpp"

namespace tbench::model::planted {
namespace {

// Gradients

at::Tensor gradient_of_row_0_alone(const at::Tensor& weight, const at::Tensor& tokens) {
  return at::cat({eager_embedding(weight, tokens.narrow(0, 0, 1)),
                  eager_embedding(weight, tokens.narrow(0, 1, tokens.size(0) - 1)).detach()});
}

/// Restores the first leaf's gradient of an earlier step, after the step has cleared it.
at::Tensor gradient_left_in_place(const at::Tensor& weight, const at::Tensor& tokens) {
  if (state().leaves.empty()) return eager_embedding(weight, tokens);
  state().leaves.front().mutable_grad() = state().old_gradient.clone();
  return eager_embedding(weight.detach(), tokens);
}

at::Tensor gradient_added_up(const at::Tensor& weight, const at::Tensor& tokens) {
  if (!state().leaves.empty()) state().leaves.front().mutable_grad() = state().old_gradient.clone();
  return eager_embedding(weight, tokens);
}

at::Tensor gradient_missing(const at::Tensor& x, const FeedForwardWeights& weights) {
  return eager_swiglu(x, {.w1 = weights.w1, .w2 = weights.w2, .w3 = weights.w3.detach()});
}

/// Returns the right values, but exchanges the gradients of w1 and w3.
at::Tensor gradients_exchanged(const at::Tensor& x, const FeedForwardWeights& weights) {
  const auto exchanged = [](const at::Tensor& value, const at::Tensor& gradient) {
    return value.detach().add(gradient.sub(gradient.detach()));
  };
  return eager_swiglu(
      x, {.w1 = exchanged(weights.w1, weights.w3), .w2 = weights.w2, .w3 = exchanged(weights.w3, weights.w1)});
}

// Loss

at::Tensor loss_of_fewer_tokens(const at::Tensor& logits, const at::Tensor& targets) {
  const std::int64_t context = targets.size(1) - 1;
  return eager_cross_entropy(logits.narrow(1, 0, context), targets.narrow(1, 0, context));
}

at::Tensor targets_shifted(const at::Tensor& logits, const at::Tensor& targets) {
  return eager_cross_entropy(logits, targets.roll(1, 1));
}

at::Tensor loss_summed(const at::Tensor& logits, const at::Tensor& targets) {
  return eager_cross_entropy(logits, targets).mul(static_cast<double>(targets.numel()));
}

at::Tensor loss_of_row_0(const at::Tensor& logits, const at::Tensor& targets) {
  return eager_cross_entropy(logits.narrow(0, 0, 1), targets.narrow(0, 0, 1));
}

at::Tensor loss_off(const at::Tensor& logits, const at::Tensor& targets) {
  return eager_cross_entropy(logits, targets).mul(0.98);
}

// Gradients and optimizer, changed through the trainer

void multiply_gradient(Trainer& trainer, double factor) {
  trainer.parameters().leaves()[5].register_hook([factor](const at::Tensor& gradient) { return gradient.mul(factor); });
}

/// Runs a step and keeps the first leaf's gradient, which the functions above restore.
void keep_an_old_gradient(Trainer& trainer) {
  const at::Tensor loss = trainer.loss(trainer.tokens().roll(1, 0), trainer.targets());
  trainer.backward(loss);
  state().old_gradient = trainer.parameters().leaves().front().grad().clone();
  state().leaves = trainer.parameters().leaves();
  trainer.parameters().clear_gradients();
}

void replace_optimizer(Trainer& trainer, const AdamWOptions& options) {
  *trainer.optimizer() = AdamW{trainer.parameters().leaves(), AdamWVariant::kForeach, options};
}

/// Changes the moments as if many steps had removed their bias, so that the bias correction is wrong.
void lose_bias_correction(Trainer& trainer) {
  for (const auto& leaf : trainer.parameters().leaves()) leaf.mutable_grad() = at::zeros_like(leaf);
  for (int step = 0; step < 300; ++step) trainer.optimizer()->step();
  trainer.parameters().initialise(trainer.config().seed);
  trainer.parameters().clear_gradients();
}

void couple_weight_decay(Trainer& trainer) {
  replace_optimizer(trainer, {.weight_decay = 0.0});
  for (const auto& leaf : trainer.parameters().leaves()) {
    const at::Tensor value = leaf.detach();
    leaf.register_hook(
        [value](const at::Tensor& gradient) { return gradient.add(value, AdamWOptions{}.weight_decay); });
  }
}

void skip_a_parameter(Trainer& trainer) {
  std::vector<at::Tensor> leaves = trainer.parameters().leaves();
  leaves[7] = at::zeros_like(leaves[7]).requires_grad_(true);
  leaves[7].mutable_grad() = at::zeros_like(leaves[7]);
  *trainer.optimizer() = AdamW{leaves, AdamWVariant::kForeach};
}

}  // namespace

std::vector<Fault> backward_faults() {
  constexpr auto kPass = Pass::kForwardBackward;
  return {
      {"loss of fewer tokens", kPass, [](LayerOps& ops) { ops.cross_entropy = &loss_of_fewer_tokens; }},
      {"targets shifted by one", kPass, [](LayerOps& ops) { ops.cross_entropy = &targets_shifted; }},
      {"loss summed", kPass, [](LayerOps& ops) { ops.cross_entropy = &loss_summed; }},
      {"loss of row 0 alone", kPass, [](LayerOps& ops) { ops.cross_entropy = &loss_of_row_0; }},
      {"loss 2 % off", kPass, [](LayerOps& ops) { ops.cross_entropy = &loss_off; }},
      {"a gradient missing", kPass, [](LayerOps& ops) { ops.feed_forward = &gradient_missing; }},
      {"two gradients exchanged", kPass, [](LayerOps& ops) { ops.feed_forward = &gradients_exchanged; }},
      {"gradient of row 0 alone", kPass, [](LayerOps& ops) { ops.embedding = &gradient_of_row_0_alone; }},
      {"a gradient left in place", kPass, [](LayerOps& ops) { ops.embedding = &gradient_left_in_place; },
       &keep_an_old_gradient},
      {"gradients added up", kPass, [](LayerOps& ops) { ops.embedding = &gradient_added_up; }, &keep_an_old_gradient},
      {"a gradient doubled", kPass, nullptr, [](Trainer& trainer) { multiply_gradient(trainer, 2.0); }},
      {.name = "a gradient not scaled back",
       .pass = kPass,
       .in_trainer = [](Trainer& trainer) { multiply_gradient(trainer, trainer.scaler()->scale()); },
       .precisions = {Precision::kFp16}},
  };
}

std::vector<Fault> optimizer_faults() {
  constexpr auto kPass = Pass::kTrainStep;
  return {
      {"no bias correction", kPass, nullptr, &lose_bias_correction},
      {"another beta1", kPass, nullptr, [](Trainer& trainer) { replace_optimizer(trainer, {.beta1 = 0.95}); }},
      {"another beta2", kPass, nullptr, [](Trainer& trainer) { replace_optimizer(trainer, {.beta2 = 0.99}); }},
      {"another epsilon", kPass, nullptr, [](Trainer& trainer) { replace_optimizer(trainer, {.epsilon = 1e-6}); }},
      {"learning rate 1 % off", kPass, nullptr,
       [](Trainer& trainer) { replace_optimizer(trainer, {.learning_rate = 1.01e-3}); }},
      {"no weight decay", kPass, nullptr, [](Trainer& trainer) { replace_optimizer(trainer, {.weight_decay = 0.0}); }},
      {"weight decay coupled", kPass, nullptr, &couple_weight_decay},
      {"a parameter skipped", kPass, nullptr, &skip_a_parameter},
  };
}

}  // namespace tbench::model::planted
