#include "model/training/verify_trainer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "model/torch/rounding.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

/// Half of a verification's for its elements, half for its norms.
constexpr double kBudget = kVerificationBudget / 2;

/// What a block adds to the variance of the residual stream, as a share of the embeddings'. Of seeded weights: 0.085
/// from SwiGLU, the rest from attention over a short context.
constexpr double kBlockVariance = 0.25;

/// (Error / roundoff of a product)^2 is at most `base + by_depth * ln(1 + kBlockVariance * num_layers)`.
struct Noise {
  double base;
  double by_depth;
  double local;  // how many times the tensor's the noise of its worst rows and columns is
};

// In the order of Quantity: logits, loss, LM head, all other gradients, those of q and k.
constexpr std::array kNoise{
    Noise{.base = 2.0, .by_depth = 3.5, .local = 1.0}, Noise{.base = 2.0, .by_depth = 3.5, .local = 1.0},
    Noise{.base = 2.0, .by_depth = 3.5, .local = 3.0}, Noise{.base = 14.0, .by_depth = 20.0, .local = 3.0},
    Noise{.base = 8.0, .by_depth = 100.0, .local = 3.0}};

/// Of an element's own size: its last few roundings, not those of the sums that it came from.
constexpr double kRelativeShare = 0.25;

/// The rms error of a matrix product, relative to its result. A rounding is uniform within u of the value, of an rms of
/// u / sqrt(3) at most. Short types round both inputs and the result: u. Of a float32 sum of K terms every partial sum
/// is rounded, and these grow like sqrt(k): u sqrt(K / 6).
double product_roundoff(const ModelConfig& config) {
  const double u = unit_roundoff(config.precision);
  if (config.precision != Precision::kFp32) return u;
  return u * std::sqrt(static_cast<double>(std::max(config.size.d_ff, config.batch * config.context)) / 6.0);
}

// A float32 update rounds the parameter p up to twice and the decay factor once, and a dozen times what it subtracts,
// about the learning rate: 3 u p at most. The fused kernel takes 1 - beta2 from a float32 beta2, which is off by up to
// 2^-25 / 0.001 = 3e-5 of it. These are bounds, not quantiles: nothing right exceeds them.
constexpr double kUpdateRoundings = 8.0;
constexpr double kUpdateRelative = 1e-4;  // of the learning rate; of a moment
// Of a tensor's update norm: a rounding of p ~ 1 is 0.6 % of a decay of lr * 0.01 * p alone, but of either sign, so
// that it adds up to 0.006^2 / 2 of the norm.
constexpr double kUpdateNormRelative = 2e-3;
constexpr double kFloatRoundoff = 0x1p-24;
constexpr double kSmallestSquare = 0x1p-120;  // below it the square of a gradient loses digits, or is flushed to zero

constexpr int kMaxScaleBackoffs = 24;

/// Whatever a step keeps of these is seen: they must not show in what it leaves.
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

/// One step, whose gradients and update are its first. fp16 starts with a scale that may be too large, and a training
/// run halves it until it fits, skipping these steps: so does this.
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

/// Copies a step's outputs behind its forward pass: passes of their own may write over them afterwards.
class KeptOutputs final : public PhaseMarker {
 public:
  explicit KeptOutputs(StepOutputs& outputs) : outputs_{outputs} {}
  void mark() override {
    if (is_kept_) return;
    is_kept_ = true;
    const at::NoGradGuard no_grad;
    outputs_.logits = outputs_.logits.clone();
    if (outputs_.loss.defined()) outputs_.loss = outputs_.loss.clone();
  }

 private:
  StepOutputs& outputs_;
  bool is_kept_{};
};

Quantity quantity_of(std::size_t index, std::size_t count) {
  if (index + 2 >= count) return Quantity::kHeadGradient;
  const std::size_t in_block = (index - 1) % kBlockParameters;
  const bool is_query_or_key = index > 0 && (in_block == 1 || in_block == 2);
  return is_query_or_key ? Quantity::kAttentionGradient : Quantity::kGradient;
}

/// A tensor's words of bits, added up as whole numbers: the lowest 52 digits of that, which a double holds exactly.
double digest_of(const at::Tensor& tensor) {
  constexpr std::int64_t kExact = (std::int64_t{1} << 52) - 1;
  const at::Tensor bits = tensor.detach().view(tensor.element_size() == 8 ? at::kLong : at::kInt);
  return static_cast<double>(bits.sum(at::kLong).item<std::int64_t>() & kExact);
}

/// What the gradients of a step are the mean over.
struct CheckedBatch {
  ModelConfig config;          // of all its rows
  at::Tensor tokens, targets;  // [rows, context]
  std::int64_t first_row{};    // of the trainer's own
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
  /// @param group  null: the trainer makes its steps by itself
  TrainerCheck(Trainer& trainer, std::uint64_t seed, const CheckedStep& step, ranks::Group* group)
      : trainer_{trainer},
        step_{step},
        seed_{seed},
        group_{group},
        batch_{checked_batch(trainer, seed, group != nullptr)},
        dtype_{trainer.config().precision == Precision::kFp32 ? at::kDouble : at::kFloat},
        reference_{batch_.config, trainer.parameters(), seed, dtype_} {}

  Verification run() {
    StepOutputs outputs = one_step(trainer_, step_);
    const Tf32Scope no_tf32{Precision::kFp32};
    reference_.forward(batch_.tokens, [&](std::int64_t row_of_all, const at::Tensor& expected) {
      const std::int64_t row = row_of_all - batch_.first_row;
      if (row < 0 || row >= trainer_.config().batch) return;
      comparison_.add(fmt::format("logits[{}]", row), outputs.logits[row], expected,
                      rounding_tolerance(batch_.config, Quantity::kLogits, expected.numel()));
    });
    outputs.logits.reset();
    if (trainer_.config().pass != Pass::kForward) compare_gradients(outputs.loss);
    if (trainer_.config().pass == Pass::kTrainStep) compare_update();
    if (group_ != nullptr) compare_ranks();
    return comparison_.finish(fmt::format("eager in {} of the same weights and inputs",
                                          dtype_ == at::kDouble ? "float64" : "float32 without TF32"));
  }

 private:
  void compare_gradients(const at::Tensor& loss) {
    // An optimizer's step leaves the gradients divided by the scale.
    const bool is_scaled = trainer_.scaler() != nullptr && trainer_.optimizer() == nullptr;
    const double unscale = is_scaled ? 1.0 / trainer_.scaler()->scale() : 1.0;
    const Parameters& parameters = trainer_.parameters();
    const std::size_t count = parameters.named().size();
    const auto compare = [&](std::size_t index, const at::Tensor& expected) {
      at::Tensor gradient = parameters.gradient(index);
      if (gradient.defined() && is_scaled) gradient = gradient.to(at::kDouble).mul(unscale);
      comparison_.add(parameters.named()[index].name + ".grad", gradient, expected,
                      rounding_tolerance(batch_.config, quantity_of(index, count), expected.numel()));
    };
    const at::Tensor expected_loss = reference_.backward(batch_.targets, compare);
    comparison_.add("loss", mean_of(loss), expected_loss,
                    rounding_tolerance(batch_.config, Quantity::kLoss, expected_loss.numel()));
  }

  /// Of the ranks' losses: each is the mean over as many tokens.
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

  /// The shares of all ranks, one after the other.
  [[nodiscard]] at::Tensor gathered(at::Tensor share) const {
    at::Tensor whole = at::empty({share.numel() * group_->size()}, share.options());
    group_->all_gather(whole, share);
    return whole;
  }

  /// @param which     of the optimizer's moments
  /// @param expected  from a parameter's gradient
  void compare_moments(const std::string& name, const at::Tensor& (AdamW::*which)(std::size_t) const,
                       const std::function<at::Tensor(const at::Tensor& gradient)>& expected) {
    const Tolerance tolerance{.relative = kUpdateRelative, .of_rms = 0.0, .absolute = kSmallestSquare};
    const Parameters& parameters = trainer_.parameters();
    const AdamW& optimizer = *trainer_.optimizer();
    const bool is_shared = parameters.whole().defined();
    const at::Tensor whole = is_shared ? gathered((optimizer.*which)(0)) : at::Tensor{};
    for (std::size_t i = 0; i < parameters.named().size(); ++i) {
      const NamedParameter& parameter = parameters.named()[i];
      const at::Tensor of_leaf =
          is_shared ? parameters.leaf_of(whole, parameter.leaf) : (optimizer.*which)(parameter.leaf);
      comparison_.add(parameter.name + name, part_of(parameter, of_leaf),
                      expected(parameters.gradient(i).to(at::kDouble)), tolerance);
    }
  }

  /// The expected update is computed from the step's own gradients: computed from the reference's, an element whose
  /// gradient is near zero may differ by 2 * lr, since the first update is lr times the gradient's sign. The moments
  /// have what the first update does not show: their decay rates cancel in it. With other data the same optimizer is at
  /// work: that it was given them shows in the parameters.
  void compare_update() {
    const at::NoGradGuard no_grad;
    const AdamWOptions options;  // of the case, whatever the optimizer was given
    const Parameters& parameters = trainer_.parameters();
    const Tolerance tolerance{.relative = kUpdateRoundings * kFloatRoundoff,
                              .of_rms = 0.0,
                              .absolute = kUpdateRelative * options.learning_rate};
    const Tolerance norm_tolerance{.relative = kUpdateNormRelative, .of_rms = 0.0, .absolute = 0.0};
    const bool is_first = seed_ == trainer_.config().seed;
    for (std::size_t i = 0; i < parameters.named().size(); ++i) {
      const NamedParameter& parameter = parameters.named()[i];
      const at::Tensor gradient = parameters.gradient(i).to(at::kDouble);
      const at::Tensor before = parameters.initial_value(i, seed_).to(at::kDouble);
      const at::Tensor expected = adamw_first_step(before, gradient, options);
      const at::Tensor after = parameter.value.to(at::kDouble);
      comparison_.add(parameter.name + " after a step", after, expected, tolerance);
      if (!is_first) continue;
      comparison_.add(parameter.name + " update norm", after.sub(before).norm(), expected.sub(before).norm(),
                      norm_tolerance);
    }
    if (!is_first) return;
    compare_moments(" first moment", &AdamW::first_moment,
                    [&](const at::Tensor& gradient) { return gradient.mul(1.0 - options.beta1); });
    compare_moments(" second moment", &AdamW::second_moment,
                    [&](const at::Tensor& gradient) { return gradient.square().mul(1.0 - options.beta2); });
  }

  Trainer& trainer_;
  const CheckedStep& step_;
  std::uint64_t seed_;
  ranks::Group* group_;
  CheckedBatch batch_;
  at::ScalarType dtype_;
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

// The error of a right implementation is, to first order, a sum over its roundings: independent, of mean zero, each
// uniform. Three facts bound it.
//
// Its level. With kBlockVariance = b the residual stream has the variance 1 + b l after l blocks. What a block adds has
// the relative error c of its own roundings, and errors travel with the stream, through norms that keep their relative
// size. After L blocks the relative variance is the sum over l of c^2 b / (1 + b l), about c^2 ln(1 + b L): it does not
// grow with the depth, as errors that simply added up would. The LM head adds one product. Gradients pass the stream
// twice, those of q and k besides through the differences in softmax's backward. The constants of that law are mean
// squares over seeds, not extremes (CPU, both implementations, 2 to 48 layers of a width of 32 to 128): in units of
// product_roundoff, for bfloat16 (float32 has half to two thirds of it, since its sums are made in blocks)
//                                 2 layers    6       48
//   logits, LM head               1.3         1.6     2.4
//   gradients                     2.3         2.7     3.9
//   of q and k                    3.1         3.9     6.4
// kNoise allows 2 times the squares of the first, 4 times those of the second and 6 times those of the third, for
// kernels that round more often than these: the memory-efficient and the flash backward on a GPU do. The H200's results
// of record, where the logits' norm reached 2.2 at 32 layers and an element of q's gradient 126, keep a factor of 1.4.
//
// Its fluctuation. Over seeds the logarithm of a norm has a standard deviation of up to 2 sqrt(L) / d_model (0.03 at 2
// layers of a width of 64, 0.22 at 48), since the errors of a row share the streams' directions: as a chi-squared
// variable of d_model^2 / (8 L) degrees of freedom has, and of half a tensor's elements if those are fewer. The norms
// share half of the budget. The loss is a mean over tokens, whose errors have either sign: it stays below the level.
//
// Its largest element. A sum of independent uniform variables exceeds z of its standard deviations with a probability
// of at most 2 exp(-z^2 / 2); by the union bound over all N elements of the case z = sqrt(2 ln(2 N / budget)). Rows and
// columns of a gradient differ in their noise (`local`). In the LM head's there are rows of nothing but the rounding of
// softmax's sum, as large as that of a target's row: with fewer tokens than words these rows' size is
// sqrt(1 + vocab_size / tokens) times below.
//
// A mean over ranks is held to the same: it rounds partial sums once a rank, for gradients of a short type by up to
// sqrt(ranks / 3) in these units, 1.6 at 8 ranks, beside the 3.7 and more that kNoise allows.
Tolerance rounding_tolerance(const ModelConfig& config, Quantity quantity, std::int64_t count) {
  const Noise noise = kNoise.at(static_cast<std::size_t>(quantity));
  const auto layers = static_cast<double>(config.size.num_layers);
  const double level =
      product_roundoff(config) * std::sqrt(noise.base + noise.by_depth * std::log1p(kBlockVariance * layers));
  if (quantity == Quantity::kLoss) return {.relative = level, .of_rms = 0.0, .absolute = 0.0};

  const double tensors =
      static_cast<double>(config.batch) + 4.0 + static_cast<double>(kBlockParameters) * layers;  // loss included
  const auto width = static_cast<double>(config.size.d_model);
  const double degrees = std::min(static_cast<double>(count) / 2.0, width * width / (8.0 * layers));
  const double norm = level * norm_fluctuation(degrees, kBudget / tensors);

  const auto tokens = static_cast<double>(config.batch * config.context);
  const auto vocabulary = static_cast<double>(config.vocab_size);
  const double elements = tokens * vocabulary + static_cast<double>(parameter_count(config.size, config.vocab_size));
  const double deviations = sum_bound(elements, kBudget);
  const double local =
      quantity == Quantity::kHeadGradient ? noise.local * std::sqrt(1.0 + vocabulary / tokens) : noise.local;
  const double element = local * deviations * norm;
  return {.relative = kRelativeShare * element, .of_rms = element, .absolute = 0.0, .of_norm = norm};
}

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
