#include "model/training/tolerances.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "model/layers/parameters.hpp"
#include "model/torch/rounding.hpp"
#include "model/training/optimizer.hpp"

namespace tbench::model {
namespace {

/// The budget of a verification is divided: half for its elements, half for its norms.
constexpr double kShare = kVerificationBudget / 2;

/// The variance that a block adds to the residual stream, relative to the variance of the embeddings. With seeded
/// weights: 0.085 from SwiGLU, the rest from attention over a short context.
constexpr double kBlockVariance = 0.25;

/// (Error / roundoff of a product)^2 is at most `base + by_depth * ln(1 + kBlockVariance * num_layers)`.
struct Noise {
  double base;
  double by_depth;
  double local;  // how many times the tensor's the noise of its worst rows and columns is
};

// In the order of Quantity: logits, loss, LM head, all other gradients, gradients of q and k.
constexpr std::array kNoise{
    Noise{.base = 2.0, .by_depth = 3.5, .local = 1.0}, Noise{.base = 2.0, .by_depth = 3.5, .local = 1.0},
    Noise{.base = 2.0, .by_depth = 3.5, .local = 3.0}, Noise{.base = 14.0, .by_depth = 20.0, .local = 3.0},
    Noise{.base = 8.0, .by_depth = 100.0, .local = 3.0}};

/// The part of an error that is relative to an element's own size: the last few roundings of the element, not of the
/// sums that it came from.
constexpr double kRelativeShare = 0.25;

/// The rms error of a matrix product, relative to its result. A rounding is uniform within u of the value, of an rms of
/// u / sqrt(3) at most. Short types round both inputs and the result: u. Every partial sum of a float32 sum of K terms
/// is rounded, and these grow like sqrt(k): u sqrt(K / 6).
double product_roundoff(const ModelConfig& config) {
  const double u = unit_roundoff(config.precision);
  if (config.precision != Precision::kFp32) return u;
  return u * std::sqrt(static_cast<double>(std::max(config.size.d_ff, config.batch * config.context)) / 6.0);
}

// The loss of a product of float32 matrices in TF32, relative to its result: a tensor core reads 11 digits of an
// operand and drops the rest, 2^-11 of the operand's power of two on average, which is 1 / (2 ln 2) of the operand.
// Both operands' errors have one sign: they add up with each other and, at worst, with the errors of the product that
// is checked. bfloat16's roundoff is 5.5 times that. With operands cut so on a CPU the largest error of a case grew by
// 14 % at most (2 to 48 layers, 79 cases), by 1 to 6 % on average.
constexpr double kTf32Loss = 2.0 * 0x1p-11 * std::numbers::log2e / 2.0;

// The element of a target, p - 1, has no more than 11 digits in fp16: p, about 1 / vocab_size, is lost with the same
// sign in every token. Cross-entropy written out gives what its row's sum then lacks to the largest logit's word, and
// in an untrained model one word is the largest of many tokens: the row of its gradient is off by p times what these
// tokens' streams have in common, of which an element is about 1: on an H100 a quarter to a half of that (nine cases of
// 2,048 and 4,096 tokens). The other roundings of bfloat16 are eight times as large as in fp16 and leave room for it.
double lost_probability(const ModelConfig& config, Quantity quantity) {
  if (config.precision != Precision::kFp16 || quantity != Quantity::kHeadGradient) return 0.0;
  return std::min(unit_roundoff(config.precision), 1.0 / static_cast<double>(config.vocab_size));
}

// The share of the norm's bound that is lost: a row that is off by p in every element, while all rows of the gradient
// have the norm sqrt(width / tokens). One word is not the largest of all tokens.
constexpr double kLostShare = 0.5;

// A float32 update rounds the parameter p up to twice and the decay factor once, and a dozen times what it subtracts,
// about the learning rate: 3 u p at most. The fused kernel takes 1 - beta2 from a float32 beta2, which is off by up to
// 2^-25 / 0.001 = 3e-5 of it. These are bounds, not quantiles: nothing right exceeds them.
constexpr double kUpdateRoundings = 8.0;
constexpr double kUpdateRelative = 1e-4;  // of the learning rate; of a moment
// The relative error of a tensor's update norm: a rounding of p ~ 1 is 0.6 % of a decay of lr * 0.01 * p alone, but of
// either sign, so that it adds up to 0.006^2 / 2 of the norm.
constexpr double kUpdateNormRelative = 2e-3;
constexpr double kFloatRoundoff = 0x1p-24;
constexpr double kSmallestSquare = 0x1p-120;  // below it the square of a gradient loses digits, or is flushed to zero

}  // namespace

ReferenceProducts second_products(const ModelConfig& config) {
  const bool is_tf32 = config.precision == Precision::kBf16 && config.device == DeviceKind::kCuda;
  return is_tf32 ? ReferenceProducts::kTf32 : ReferenceProducts::kItsOwnType;
}

// The error of a right implementation is, to first order, a sum over its roundings: independent, of mean zero, each
// uniform. Three facts bound it.
//
// Its level. With kBlockVariance = b the residual stream has the variance 1 + b l after l blocks. What a block adds has
// the relative error c of its own roundings, and errors travel with the stream, through norms that keep their relative
// size. After L blocks the relative variance is the sum over l of c^2 b / (1 + b l), about c^2 ln(1 + b L): it does not
// grow with the depth, as errors that simply added up would. The LM head adds one product. Gradients pass the stream
// twice, the gradients of q and k besides through the differences in softmax's backward. The constants of that law are
// mean squares over seeds, not extremes (CPU, both implementations, 2 to 48 layers of a width of 32 to 128): in units
// of product_roundoff, for bfloat16 (float32 has half to two thirds of it, since its sums are made in blocks)
//                                 2 layers    6       48
//   logits, LM head               1.3         1.6     2.4
//   gradients                     2.3         2.7     3.9
//   of q and k                    3.1         3.9     6.4
// kNoise allows 2 times the squares of the first line, 4 times the squares of the second and 6 times the squares of the
// third, for kernels that round more often than these: the memory-efficient and the flash backward on a GPU do. The
// H200's results of record, where the logits' norm reached 2.2 at 32 layers and an element of q's gradient 126, keep a
// factor of 1.4.
//
// Its fluctuation. Over seeds the logarithm of a norm has a standard deviation of up to 2 sqrt(L) / d_model (0.03 at 2
// layers of a width of 64, 0.22 at 48), since the errors of a row share the streams' directions: as a chi-squared
// variable of d_model^2 / (8 L) degrees of freedom has, and of half a tensor's elements if those are fewer. The norms
// share half of the budget. The loss is a mean over tokens, whose errors have either sign: it stays below the level.
//
// Its largest element. A sum of independent uniform variables exceeds z of its standard deviations with a probability
// of at most 2 exp(-z^2 / 2); by the union bound over all N elements of the case z = sqrt(2 ln(2 N / budget)). Rows and
// columns of a gradient differ in their noise (`local`). The gradient of the LM head has rows of nothing but the
// rounding of softmax's sum, as large as the rounding of a target's row: with fewer tokens than words these rows' size
// is sqrt(1 + vocab_size / tokens) times below.
//
// A mean over ranks is held to the same: it rounds partial sums once per rank, for gradients of a short type by up to
// sqrt(ranks / 3) in these units, 1.6 at 8 ranks, next to the 3.7 and more that kNoise allows.
Tolerance rounding_tolerance(const ModelConfig& config, Quantity quantity, std::int64_t count,
                             ReferenceProducts products) {
  const Noise noise = kNoise.at(static_cast<std::size_t>(quantity));
  const auto layers = static_cast<double>(config.size.num_layers);
  const double roundoff = product_roundoff(config) + (products == ReferenceProducts::kTf32 ? kTf32Loss : 0.0);
  const double level = roundoff * std::sqrt(noise.base + noise.by_depth * std::log1p(kBlockVariance * layers));
  if (quantity == Quantity::kLoss) return {.relative = level, .of_rms = 0.0, .absolute = 0.0};

  const double tensors =
      static_cast<double>(config.batch) + 4.0 + static_cast<double>(kBlockParameters) * layers;  // loss included
  const auto width = static_cast<double>(config.size.d_model);
  const double degrees = std::min(static_cast<double>(count) / 2.0, width * width / (8.0 * layers));
  const double norm = level * norm_fluctuation(degrees, kShare / tensors);

  const auto tokens = static_cast<double>(config.batch * config.context);
  const auto vocabulary = static_cast<double>(config.vocab_size);
  const double elements = tokens * vocabulary + static_cast<double>(parameter_count(config.size, config.vocab_size));
  const double deviations = sum_bound(elements, kShare);
  const double local =
      quantity == Quantity::kHeadGradient ? noise.local * std::sqrt(1.0 + vocabulary / tokens) : noise.local;
  const double element = local * deviations * norm;
  const double lost = lost_probability(config, quantity);
  return {.relative = kRelativeShare * element,
          .of_rms = element,
          .absolute = lost,
          .of_norm = std::hypot(norm, kLostShare * lost * std::sqrt(tokens))};
}

// A reference in float32 rounds p once, and the rest within some 5 u of the learning rate: what is right is then 4 u p
// off at most.
Tolerance update_tolerance() {
  return {.relative = kUpdateRoundings * kFloatRoundoff,
          .of_rms = 0.0,
          .absolute = kUpdateRelative * AdamWOptions{}.learning_rate};
}

Tolerance update_norm_tolerance() { return {.relative = kUpdateNormRelative, .of_rms = 0.0, .absolute = 0.0}; }

Tolerance moment_tolerance() { return {.relative = kUpdateRelative, .of_rms = 0.0, .absolute = kSmallestSquare}; }

}  // namespace tbench::model
