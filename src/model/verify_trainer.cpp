#include "tbench/model/verify_trainer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "tbench/model/precision_scope.hpp"
#include "tbench/model/reference.hpp"

namespace tbench::model {
namespace {

// How far rounding moves a result. Each of L layers adds its own, independent error to the residual stream, and logits
// see their sum: u * sqrt(1 + L) of the size of the result, u the unit round-off of the products' inputs. Measured with
// this code on a CPU (d_model 64 to 1024, L 2 to 24, context 64 and 128, both implementations, several seeds), error
// over u * sqrt(1 + L) is nearly constant in size and depth; the largest seen, element by element relative to the rms
// and as a norm:
//                         float32           bfloat16 (float16 the same within a tenth)
//   logits, loss          17     3.0        3.1    0.68
//   gradients             78     7.4        16     1.8
//   the LM head's         130               31
// (float32 has more roundings to a u: every operation makes one, where autocast rounds products alone. The LM head's
// gradient has rows of nothing but the rounding of softmax's sum.) The constants below are four times these. TF32
// rounds the products' inputs only, like autocast.
struct Roundings {
  double element;
  double norm;
};
constexpr Roundings kFloatForward{.element = 68, .norm = 12};
constexpr Roundings kFloatGradient{.element = 312, .norm = 30};
constexpr Roundings kFloatHeadGradient{.element = 520, .norm = 30};
constexpr Roundings kShortForward{.element = 12.5, .norm = 2.8};
constexpr Roundings kShortGradient{.element = 64, .norm = 7.2};
constexpr Roundings kShortHeadGradient{.element = 124, .norm = 7.2};
// Of an element's own size: its last few roundings, not those of the sums that it came from.
constexpr double kRelativeShare = 0.25;

// A float32 update of a parameter p rounds p up to twice and the decay factor once (the largest error seen is 1.8 u p),
// and the fused kernel takes 1 - beta2 from a float32 beta2, which is off by up to 2^-25 / 0.001 = 3e-5 of it.
constexpr double kUpdateRoundings = 8.0;
constexpr double kUpdateRelative = 1e-4;  // of the learning rate
// Of a tensor's update norm: a rounding of p ~ 1 is 0.6 % of a decay of lr * 0.01 * p alone, but of either sign.
constexpr double kUpdateNormRelative = 2e-3;
constexpr double kFloatRoundoff = 0x1p-24;

constexpr int kMaxScaleBackoffs = 24;

at::Tensor first_row(const at::Tensor& batch) { return batch.narrow(0, 0, 1); }

/// Logits of row 0 of the timed batch, made as the timed step makes them: [1, context, vocab_size].
at::Tensor timed_logits(const Trainer& trainer) {
  const Tf32Scope tf32{trainer.config().precision};
  const at::AutoGradMode graph{trainer.config().pass != Pass::kForward};
  return first_row(trainer.logits(trainer.tokens()).detach()).clone();
}

bool gradients_finite(const Trainer& trainer) {
  const at::NoGradGuard no_grad;
  at::Tensor finite;
  for (const auto& leaf : trainer.parameters().leaves()) {
    const at::Tensor all = at::isfinite(leaf.grad()).all();
    finite = finite.defined() ? finite.logical_and(all) : all;
  }
  return finite.item<bool>();
}

/// Gradients of one row. fp16 starts with a scale that may be too large, and a training run halves it until it fits:
/// so does this. Returns the loss.
at::Tensor one_row_gradients(Trainer& trainer) {
  const Tf32Scope tf32{trainer.config().precision};
  for (int attempt = 0;; ++attempt) {
    trainer.parameters().clear_gradients();
    const at::Tensor loss = trainer.loss(first_row(trainer.tokens()), first_row(trainer.targets()));
    trainer.backward(loss);
    GradScaler* scaler = trainer.scaler();
    if (scaler == nullptr || attempt == kMaxScaleBackoffs || gradients_finite(trainer)) return loss.detach();
    scaler->reset(scaler->scale() * GradScaler::kBackoffFactor);
  }
}

void compare_gradients(Comparison& comparison, Trainer& trainer, Reference& reference) {
  const at::Tensor loss = one_row_gradients(trainer);
  const double unscale = trainer.scaler() != nullptr ? 1.0 / trainer.scaler()->scale() : 1.0;
  const Tf32Scope no_tf32{Precision::kFp32};
  const Parameters& parameters = trainer.parameters();
  const auto compare = [&](std::size_t index, const at::Tensor& expected) {
    at::Tensor gradient = parameters.gradient(index);
    if (gradient.defined() && unscale != 1.0) gradient = gradient.to(at::kDouble).mul(unscale);
    const bool lm_head = index + 1 == parameters.named().size();
    comparison.add(parameters.named()[index].name + ".grad", gradient, expected,
                   gradient_tolerance(trainer.config(), lm_head));
  };
  const at::Tensor expected_loss = reference.backward(first_row(trainer.targets()), compare);
  comparison.add("loss", loss, expected_loss, forward_tolerance(trainer.config()));
}

/// Makes one optimizer step with the gradients that are there. The expected update is computed from those very
/// gradients: computed from the reference's, an element whose gradient is near zero may differ by 2 * lr, since the
/// first update is lr times the gradient's sign.
void compare_update(Comparison& comparison, Trainer& trainer) {
  const at::NoGradGuard no_grad;
  trainer.optimize();
  const Parameters& parameters = trainer.parameters();
  const AdamWOptions& options = trainer.optimizer()->options();
  const Tolerance tolerance{.relative = kUpdateRoundings * kFloatRoundoff,
                            .of_rms = 0.0,
                            .absolute = kUpdateRelative * options.learning_rate};
  const Tolerance norm_tolerance{.relative = kUpdateNormRelative, .of_rms = 0.0, .absolute = 0.0};
  for (std::size_t i = 0; i < parameters.named().size(); ++i) {
    const NamedParameter& parameter = parameters.named()[i];
    const at::Tensor before = parameters.initial_value(i, trainer.config().seed).to(at::kDouble);
    const at::Tensor expected = adamw_first_step(before, parameters.gradient(i).to(at::kDouble), options);
    const at::Tensor after = parameter.value.to(at::kDouble);
    comparison.add(parameter.name + " after a step", after, expected, tolerance);
    comparison.add(parameter.name + " update norm", after.sub(before).norm(), expected.sub(before).norm(),
                   norm_tolerance);
  }
}

Tolerance rounding_tolerance(const ModelStepConfig& config, const Roundings& roundings) {
  const double unit = unit_roundoff(config.precision) * std::sqrt(1.0 + static_cast<double>(config.size.num_layers));
  return {.relative = kRelativeShare * roundings.element * unit,
          .of_rms = roundings.element * unit,
          .absolute = 0.0,
          .of_norm = roundings.norm * unit};
}

}  // namespace

Tolerance forward_tolerance(const ModelStepConfig& config) {
  return rounding_tolerance(config, config.precision == Precision::kFp32 ? kFloatForward : kShortForward);
}

Tolerance gradient_tolerance(const ModelStepConfig& config, bool lm_head) {
  if (config.precision == Precision::kFp32) {
    return rounding_tolerance(config, lm_head ? kFloatHeadGradient : kFloatGradient);
  }
  return rounding_tolerance(config, lm_head ? kShortHeadGradient : kShortGradient);
}

Verification verify_trainer(Trainer& trainer) {
  const ModelStepConfig& config = trainer.config();
  const at::ScalarType dtype = config.precision == Precision::kFp32 ? at::kDouble : at::kFloat;
  if (trainer.stepped()) trainer.reset();
  Comparison comparison;
  const at::Tensor logits = timed_logits(trainer);
  Reference reference{config, trainer.parameters(), dtype};
  {
    const Tf32Scope no_tf32{Precision::kFp32};
    comparison.add("logits", logits, reference.forward(first_row(trainer.tokens())), forward_tolerance(config));
  }
  if (config.pass != Pass::kForward) compare_gradients(comparison, trainer, reference);
  if (config.pass == Pass::kTrainStep) compare_update(comparison, trainer);
  const Verification result = comparison.finish(fmt::format("eager in {} of the same weights and inputs",
                                                            dtype == at::kDouble ? "float64" : "float32 without TF32"));
  trainer.reset();
  return result;
}

}  // namespace tbench::model
