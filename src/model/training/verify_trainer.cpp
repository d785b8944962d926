#include "model/training/verify_trainer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "model/torch/scopes.hpp"
#include "model/training/expected_losses.hpp"

namespace tbench::model {
namespace {

/// The largest number of elements of parameters that are concatenated into one comparison, which a GPU runs faster than
/// one comparison per parameter.
constexpr std::int64_t kComparedTogether = std::int64_t{1} << 23;

constexpr int kMaxScaleBackoffs = 24;

/// Fills all gradients with NaN, so that a step that does not overwrite or clear them fails the check.
void poison_gradients(const Parameters& parameters) {
  const at::NoGradGuard no_grad;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& leaf : parameters.leaves()) {
    if (leaf.grad().defined()) {
      leaf.mutable_grad().fill_(kNan);
    } else {
      leaf.mutable_grad() = at::full_like(leaf, kNan);
    }
  }
}

bool gradients_finite(const Parameters& parameters) {
  const at::NoGradGuard no_grad;
  at::Tensor finite;
  for (const auto& leaf : parameters.leaves()) {
    if (!leaf.grad().defined()) continue;
    const at::Tensor all = at::isfinite(leaf.grad()).all();
    finite = finite.defined() ? finite.logical_and(all) : all;
  }
  return !finite.defined() || finite.item<bool>();
}

/// Makes the trainer's first step. fp16 may start with a loss scale that is too large; as in a training run, steps with
/// such a scale are skipped and the scale is halved until gradients are finite.
StepOutputs one_step(Trainer& trainer, const CheckedStep& step) {
  StepOutputs outputs;
  if (trainer.config().pass == Pass::kForward) {
    step(outputs);
    return outputs;
  }
  poison_gradients(trainer.parameters());
  GradScaler* const scaler = trainer.scaler();
  for (int attempt = 0;; ++attempt) {
    step(outputs);
    if (scaler == nullptr || attempt == kMaxScaleBackoffs || gradients_finite(trainer.parameters())) return outputs;
    if (trainer.optimizer() == nullptr) scaler->reset(scaler->scale() * GradScaler::kBackoffFactor);
  }
}

/// Copies a step's outputs after its forward pass, since ModelPasses may overwrite them later.
class KeptOutputs final : public PhaseMarker {
 public:
  explicit KeptOutputs(StepOutputs& outputs) : outputs_{outputs} {}
  void mark() override {
    if (is_kept_) return;
    is_kept_ = true;
    const at::NoGradGuard no_grad;
    for (at::Tensor* const output : {&outputs_.logits, &outputs_.loss, &outputs_.losses, &outputs_.lse}) {
      if (output->defined()) *output = output->clone();
    }
  }

 private:
  StepOutputs& outputs_;
  bool is_kept_{};
};

Quantity quantity_of(std::size_t index, const ModelSize& size) {
  using enum BlockParameter;
  if (index == 0) return size.tied ? Quantity::kTiedGradient : Quantity::kGradient;
  const std::size_t of_block = block_parameters(size);
  if (index > of_block * static_cast<std::size_t>(size.num_layers)) return Quantity::kHeadGradient;
  const auto in_block = static_cast<BlockParameter>((index - 1) % of_block);
  const bool is_of_scores = in_block == kQ || in_block == kK || in_block == kQNorm || in_block == kKNorm;
  return is_of_scores ? Quantity::kAttentionGradient : Quantity::kGradient;
}

/// Returns the sum of a tensor's words as integers, modulo 2^52 so that a double holds it exactly.
double digest_of(const at::Tensor& tensor) {
  constexpr std::int64_t kExact = (std::int64_t{1} << 52) - 1;
  const at::Tensor bits = tensor.detach().view(tensor.element_size() == 8 ? at::kLong : at::kInt);
  return static_cast<double>(bits.sum(at::kLong).item<std::int64_t>() & kExact);
}

/// Returns the concatenated tensors; a single tensor is not copied.
at::Tensor joined(const std::vector<at::Tensor>& flat) { return flat.size() == 1 ? flat.front() : at::cat(flat); }

/// The batch whose mean gradients a step computes.
struct CheckedBatch {
  ModelConfig config;          // config whose batch is all rows
  at::Tensor tokens, targets;  // [rows, context]
  std::int64_t first_row{};    // first row of the trainer's own part
};

CheckedBatch checked_batch(const Trainer& trainer, std::uint64_t seed, bool of_all_ranks) {
  const ModelConfig& config = trainer.config();
  CheckedBatch batch{.config = config, .tokens = trainer.tokens(), .targets = trainer.targets(), .first_row = 0};
  if (!of_all_ranks) return batch;
  const at::Tensor ids = trainer.whole_batch(seed);
  batch.config.batch *= config.part.count;
  batch.tokens = ids.narrow(1, 0, config.context);
  batch.targets = ids.narrow(1, 1, config.context);
  batch.first_row = config.part.index * config.batch;
  return batch;
}

class TrainerCheck {
 public:
  /// Prepares the check of one step.
  /// @param group  the ranks that run the step together, or null for a single trainer
  TrainerCheck(Trainer& trainer, std::uint64_t seed, const CheckedStep& step, ranks::Group* group)
      : trainer_{trainer},
        step_{step},
        seed_{seed},
        group_{group},
        batch_{checked_batch(trainer, seed, group != nullptr)},
        dtype_{trainer.config().precision == Precision::kFp32 ? at::kDouble : at::kFloat},
        products_{is_first() ? ReferenceProducts::kItsOwnType : second_products(trainer.config())},
        reference_{batch_.config,
                   trainer.parameters(),
                   seed,
                   dtype_,
                   is_first() ? 1 : rows_together(batch_.config, dtype_),
                   reference_tiles(batch_.config)} {}

  Verification run() {
    StepOutputs outputs = one_step(trainer_, step_);
    const Tf32Scope tf32{products_ == ReferenceProducts::kTf32 ? Precision::kTf32 : Precision::kFp32};
    reference_.forward(batch_.tokens, [&](std::int64_t row_of_all, std::int64_t first, const at::Tensor& expected) {
      const std::int64_t row = row_of_all - batch_.first_row;
      if (row < 0 || row >= trainer_.config().batch) return;
      if (outputs.losses.defined()) return compare_losses(outputs, row, first, expected);
      compare_logits(outputs.logits[row], row, first, expected);
    });
    outputs.logits.reset();
    if (trainer_.config().pass != Pass::kForward) compare_gradients(outputs.loss);
    if (trainer_.config().pass == Pass::kTrainStep) compare_update();
    if (group_ != nullptr) compare_ranks();
    const char* const type = dtype_ == at::kDouble                         ? "float64"
                             : products_ == ReferenceProducts::kItsOwnType ? "float32 without TF32"
                                                                           : "float32 with TF32 products";
    return comparison_.finish(fmt::format("eager in {} of the same weights and inputs", type));
  }

 private:
  [[nodiscard]] bool is_first() const { return seed_ == trainer_.config().seed; }

  [[nodiscard]] Tolerance tolerance(Quantity quantity, const at::Tensor& expected) const {
    return rounding_tolerance(batch_.config, quantity, expected.numel(), products_);
  }

  /// Compares one row's logits, or a tile of them, with the tolerance of the whole row.
  void compare_logits(const at::Tensor& of_row, std::int64_t row, std::int64_t first, const at::Tensor& expected) {
    const std::int64_t tokens = expected.size(0);
    const bool is_whole = tokens == of_row.size(0);
    comparison_.add(is_whole ? fmt::format("logits[{}]", row) : fmt::format("logits[{}, {}:]", row, first),
                    of_row.narrow(0, first, tokens), expected,
                    rounding_tolerance(batch_.config, Quantity::kLogits, of_row.numel(), products_));
  }

  /// Compares the losses and lse of one row's tokens, or of a tile of them, if the step never has all logits. A loss is
  /// lse - logit of the target, so the targets' logits are compared as in compare_logits().
  void compare_losses(const StepOutputs& outputs, std::int64_t row, std::int64_t first, const at::Tensor& expected) {
    const std::int64_t tokens = expected.size(0), begin = row * trainer_.config().context + first;
    const ExpectedLosses losses =
        expected_losses(batch_.config, expected, trainer_.targets()[row].narrow(0, first, tokens), products_);
    // Tokens are rows of one element, since each has its own allowance.
    const auto part = [&](const at::Tensor& of_tokens) { return of_tokens.narrow(0, begin, tokens).unsqueeze(-1); };
    const at::Tensor lse = part(outputs.lse);
    comparison_.add(fmt::format("lse[{}, {}:]", row, first), lse, losses.lse.unsqueeze(-1), Tolerance{},
                    losses.lse_allowance);
    comparison_.add(fmt::format("logits of targets[{}, {}:]", row, first), lse.sub(part(outputs.losses)),
                    losses.of_targets.unsqueeze(-1), {.relative = losses.target_relative}, losses.target_allowance);
  }

  void compare_gradients(const at::Tensor& loss) {
    // The optimizer's step has already divided the gradients by the scale.
    const bool is_scaled = trainer_.scaler() != nullptr && trainer_.optimizer() == nullptr;
    const double unscale = is_scaled ? 1.0 / trainer_.scaler()->scale() : 1.0;
    const Parameters& parameters = trainer_.parameters();
    const auto compare = [&](std::size_t index, const at::Tensor& expected) {
      at::Tensor gradient = parameters.gradient(index);
      if (gradient.defined() && is_scaled) gradient = gradient.to(at::kDouble).mul(unscale);
      comparison_.add_batched(parameters.named()[index].name + ".grad", gradient, expected,
                              tolerance(quantity_of(index, trainer_.config().size), expected));
    };
    const at::Tensor expected_loss = reference_.backward(batch_.targets, compare);
    comparison_.add("loss", mean_of(loss), expected_loss, tolerance(Quantity::kLoss, expected_loss));
  }

  /// Returns the mean of the ranks' losses, each of which is a mean over the same number of tokens.
  [[nodiscard]] at::Tensor mean_of(const at::Tensor& loss) const {
    if (group_ == nullptr) return loss;
    const std::array own{loss.item<double>()};
    double sum = 0;
    for (const std::vector<double>& rank : group_->gather(own)) sum += rank.front();
    return at::scalar_tensor(sum / group_->size(), loss.options().dtype(at::kDouble));
  }

  void compare_ranks() {
    std::vector<double> own;
    for (const at::Tensor& leaf : trainer_.parameters().leaves()) own.push_back(digest_of(leaf));
    const std::vector<std::vector<double>> all = group_->gather(own);
    const at::TensorOptions numbers = at::TensorOptions{}.dtype(at::kDouble).device(batch_.tokens.device());
    comparison_.add("bits of each parameter tensor, added up, against those of rank 0", at::tensor(own, numbers),
                    at::tensor(all.front(), numbers), Tolerance{});
  }

  /// Returns one of the moments, gathered from the shares of all ranks.
  [[nodiscard]] at::Tensor gathered(const at::Tensor& (AdamW::*which)(std::size_t) const) const {
    std::vector<at::Tensor> parts;
    for (std::size_t i = 0; i < trainer_.optimized().size(); ++i) parts.push_back((trainer_.optimizer()->*which)(i));
    at::Tensor share = at::cat(parts);
    at::Tensor whole = at::empty({share.numel() * group_->size()}, share.options());
    group_->all_gather(whole, share);
    return whole;
  }

  /// Compares one moment of every parameter with its expected value.
  /// @param which     accessor of one of the optimizer's moments
  /// @param expected  computes the moment from a parameter's gradient
  void compare_moments(const std::string& name, const at::Tensor& (AdamW::*which)(std::size_t) const,
                       const std::function<at::Tensor(const at::Tensor& gradient)>& expected) {
    const Tolerance tolerance = moment_tolerance();
    const Parameters& parameters = trainer_.parameters();
    const AdamW& optimizer = *trainer_.optimizer();
    const bool is_shared = parameters.whole().defined();
    const at::Tensor whole = is_shared ? gathered(which) : at::Tensor{};
    for (std::size_t i = 0; i < parameters.named().size(); ++i) {
      const NamedParameter& parameter = parameters.named()[i];
      const at::Tensor of_leaf =
          is_shared ? parameters.leaf_of(whole, parameter.leaf) : (optimizer.*which)(parameter.leaf);
      comparison_.add_batched(parameter.name + name, part_of(parameter, of_leaf),
                              expected(parameters.gradient(i).to(at::kDouble)), tolerance);
    }
    comparison_.compare_waiting();  // releases `whole`, since two gathered moments may not fit
  }

  /// Compares the update and the moments. The expected update is computed from the step's own gradients: with the
  /// reference's gradients, an element whose gradient is near zero could differ by 2 * lr, since the first update is lr
  /// times the gradient's sign. The moments are compared because their decay rates cancel in the first update. With
  /// other data, the optimizer is the same, and comparing the parameters suffices.
  void compare_update() {
    const at::NoGradGuard no_grad;
    if (!is_first()) return compare_parameters();
    const AdamWOptions options;  // the case's options, whatever options the optimizer was given
    const Parameters& parameters = trainer_.parameters();
    const Tolerance norm_tolerance = update_norm_tolerance();
    for (std::size_t i = 0; i < parameters.named().size(); ++i) {
      const NamedParameter& parameter = parameters.named()[i];
      const at::Tensor gradient = parameters.gradient(i).to(at::kDouble);
      const at::Tensor before = parameters.initial_value(i, seed_).to(at::kDouble);
      const at::Tensor expected = adamw_first_step(before, gradient, options);
      const at::Tensor after = parameter.value.to(at::kDouble);
      comparison_.add_batched(after_a_step(parameter), after, expected, update_tolerance());
      comparison_.add_batched(parameter.name + " update norm", after.sub(before).norm(), expected.sub(before).norm(),
                              norm_tolerance);
    }
    compare_moments(" first moment", &AdamW::first_moment,
                    [&](const at::Tensor& gradient) { return gradient.mul(1.0 - options.beta1); });
    compare_moments(" second moment", &AdamW::second_moment,
                    [&](const at::Tensor& gradient) { return gradient.square().mul(1.0 - options.beta2); });
  }

  /// Compares every parameter after the step, in its own dtype. Small neighbouring parameters are compared together.
  void compare_parameters() {
    const std::vector<NamedParameter>& named = trainer_.parameters().named();
    for (std::size_t first = 0; first < named.size();) {
      std::size_t end = first;
      for (std::int64_t elements = 0; end < named.size(); ++end) {
        elements += named[end].value.numel();
        if (end > first && elements > kComparedTogether) break;
      }
      compare_parameters(first, end);
      first = end;
    }
  }

  void compare_parameters(std::size_t first, std::size_t end) {
    const Parameters& parameters = trainer_.parameters();
    std::vector<Comparison::Part> parts;
    std::vector<at::Tensor> after, gradients, before;
    for (at::Tensor& value : parameters.initial_values(first, end - first, seed_)) before.push_back(value.flatten());
    for (std::size_t i = first; i < end; ++i) {
      const NamedParameter& parameter = parameters.named()[i];
      parts.push_back({.name = after_a_step(parameter), .shape = parameter.value.sizes().vec()});
      after.push_back(parameter.value.flatten());
      gradients.push_back(parameters.gradient(i).flatten());
    }
    const at::Tensor gradient = joined(gradients).to(after.front().scalar_type());
    comparison_.add(std::move(parts), joined(after), adamw_first_step(joined(before), gradient, AdamWOptions{}),
                    update_tolerance());
  }

  static std::string after_a_step(const NamedParameter& parameter) { return parameter.name + " after a step"; }

  Trainer& trainer_;
  const CheckedStep& step_;
  std::uint64_t seed_;
  ranks::Group* group_;
  CheckedBatch batch_;
  at::ScalarType dtype_;
  ReferenceProducts products_;
  Reference reference_;
  Comparison comparison_;
};

Verification check_trainer(Trainer& trainer, std::uint64_t seed, const CheckedStep& step, ranks::Group* group) {
  if (trainer.stepped() || seed != trainer.config().seed) trainer.reset(seed);
  Verification result = TrainerCheck{trainer, seed, step, group}.run();
  trainer.reset();
  return result;
}

}  // namespace

Verification verify_trainer(Trainer& trainer, std::uint64_t seed, const CheckedStep& step) {
  return check_trainer(trainer, seed, step, nullptr);
}

Verification verify_trainer(Trainer& trainer, std::uint64_t seed, const CheckedStep& step, ranks::Group& group) {
  return check_trainer(trainer, seed, step, &group);
}

Verification verify_trainer(Trainer& trainer, std::uint64_t seed) {
  return verify_trainer(trainer, seed, [&](StepOutputs& outputs) { make_checked_step(trainer, outputs); });
}

void make_checked_step(Trainer& trainer, StepOutputs& outputs) {
  KeptOutputs kept{outputs};
  trainer.step(&kept, &outputs);
}

}  // namespace tbench::model
