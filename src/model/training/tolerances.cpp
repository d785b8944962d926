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

/// The share of a verification's budget: one half is for its elements, one half for its norms.
constexpr double kShare = kVerificationBudget / 2;

/// The variance that a block adds to the residual stream, relative to the variance of the embeddings. With seeded
/// weights, 0.085 comes from SwiGLU, and the rest from attention over a short context.
constexpr double kBlockVariance = 0.25;

/// Constants of a bound: (error / roundoff of a product)^2 is at most `base + by_depth * noise_of_depth()`.
struct Noise {
  double base;
  double by_depth;
  double local;  // noise of the worst rows and columns, as a multiple of the whole tensor's noise
};

// Noise constants in the order of Quantity: logits, loss, LM head, all other gradients, gradients of q and k, and
// gradient of tied embeddings. The last one is the sum of an LM head's gradient and one of the others.
constexpr std::array kNoise{
    Noise{.base = 2.0, .by_depth = 3.5, .local = 1.0},   Noise{.base = 2.0, .by_depth = 3.5, .local = 1.0},
    Noise{.base = 2.0, .by_depth = 3.5, .local = 3.0},   Noise{.base = 14.0, .by_depth = 20.0, .local = 3.0},
    Noise{.base = 8.0, .by_depth = 100.0, .local = 3.0}, Noise{.base = 14.0, .by_depth = 20.0, .local = 3.0}};

/// Returns the sum of the blocks' noise in the residual stream, relative to their own: ln(1 + kBlockVariance *
/// num_layers). Tied embeddings are small, so the stream consists of the blocks' outputs, and the sum is 1 + 1/2 + ...
/// + 1/num_layers. With two layers, the error is as large as with eight, since most of it comes from the first block.
/// Over 40 seeds (width 64, bfloat16, CPU) the largest error was 0.81 of the tolerance in 2 layers and 0.90 in 8.
double noise_of_depth(const ModelSize& size) {
  if (!size.tied) return std::log1p(kBlockVariance * static_cast<double>(size.num_layers));
  constexpr std::int64_t kFewest = 8;
  double sum = 0;
  for (std::int64_t l = 1; l <= std::max(size.num_layers, kFewest); ++l) sum += 1.0 / static_cast<double>(l);
  return sum;
}

/// The share of an element's tolerance that is relative to the element's own size. It covers the last few roundings of
/// the element itself, not those in the sums before.
constexpr double kRelativeShare = 0.25;

/// Returns the rms error of a matrix product, relative to its result. A rounding error is uniform within u of the
/// value, so its rms is at most u / sqrt(3). 16-bit types round both inputs and the result, which makes u. A float32
/// sum of K terms rounds every partial sum, and partial sums grow like sqrt(k), which makes u sqrt(K / 6).
double product_roundoff(const ModelConfig& config) {
  const double u = unit_roundoff(config.precision);
  if (config.precision != Precision::kFp32) return u;
  return u * std::sqrt(static_cast<double>(std::max(config.size.d_ff, config.batch * config.context)) / 6.0);
}

// The relative error of a product of float32 matrices in TF32. A tensor core reads 11 binary digits of an operand and
// drops the rest: on average 2^-11 of the operand's power of two, which itself is 1 / (2 ln 2) of the operand. Both
// operands' errors have the same sign, so they add up with each other and, at worst, with the errors of the checked
// product. bfloat16's roundoff is 5.5 times this error. When operands were truncated like this on a CPU, the largest
// error of a case grew by at most 14 % (79 cases of 2 to 48 layers), and by 1 to 6 % on average.
constexpr double kTf32Loss = 2.0 * 0x1p-11 * std::numbers::log2e / 2.0;

bool is_of_head(Quantity quantity) {
  return quantity == Quantity::kHeadGradient || quantity == Quantity::kTiedGradient;
}

// Returns the error from losing the probability p of a target in fp16. The target's element in the gradient of the
// logits is p - 1 and has 11 binary digits, so p, about 1 / vocab_size, is lost, with the same sign in every token.
// Cross entropy from elementary operations adds the missing part of the row's sum to the word of the largest logit, and
// in an untrained model one word has the largest logit for many tokens. The row of this word's gradient is then off by
// p times the common part of these tokens' residual streams, whose elements are about 1; on an H100 the error was a
// quarter to a half of that (nine cases of 2,048 and 4,096 tokens). bfloat16 needs no such term: its other rounding
// errors are eight times as large as in fp16 and leave room for it.
double lost_probability(const ModelConfig& config, Quantity quantity) {
  if (config.precision != Precision::kFp16 || !is_of_head(quantity)) return 0.0;
  return std::min(unit_roundoff(config.precision), 1.0 / static_cast<double>(config.size.vocab_size));
}

// The factor of the lost probability in the norm's bound, for a row that is off by p in every element, while the
// gradient's norm is sqrt(width / tokens). It is below 1, since no word has the largest logit for all tokens.
constexpr double kLostShare = 0.5;

// A float32 update rounds the parameter p at most twice and the decay factor once, together at most 3 u p, and the
// subtracted update, about the learning rate, a dozen times. The fused kernel computes 1 - beta2 from a float32 beta2,
// with a relative error of up to 2^-25 / 0.001 = 3e-5. These are bounds, not quantiles: no right update exceeds them.
constexpr double kUpdateRoundings = 8.0;
constexpr double kUpdateRelative = 1e-4;  // relative to the learning rate, or to a moment
// The relative error of the norm of a tensor's update. Where the update is only the decay lr * 0.01 * p, rounding p ~ 1
// is 0.6 % of it; but roundings have either sign, so together they change the norm by 0.006^2 / 2.
constexpr double kUpdateNormRelative = 2e-3;
constexpr double kFloatRoundoff = 0x1p-24;
constexpr double kSmallestSquare = 0x1p-120;  // squares of gradients below this lose digits or are flushed to zero

}  // namespace

ReferenceProducts second_products(const ModelConfig& config) {
  const bool is_tf32 = config.precision == Precision::kBf16 && config.device == DeviceKind::kCuda;
  return is_tf32 ? ReferenceProducts::kTf32 : ReferenceProducts::kItsOwnType;
}

// The error of a right implementation is, to first order, a sum over its roundings, which are independent, uniform and
// of mean zero. Its level, fluctuation and largest element are bounded as follows.
//
// Level. With kBlockVariance = b, the residual stream has the variance 1 + b l after l blocks. A block's output has the
// relative error c of its own roundings. Errors travel with the stream, through norms that keep their relative size.
// After L blocks the relative variance of the error is the sum over l of c^2 b / (1 + b l), about c^2 ln(1 + b L), so
// it grows more slowly than the depth. The LM head adds one product. Gradients pass the stream twice, and gradients of
// q and k also pass the differences in softmax's backward. The constants are root mean squares over seeds, not
// extremes, in units of product_roundoff for bfloat16 (CPU, both implementations, 2 to 48 layers of a width of 32 to
// 128). float32 has half to two thirds of them, since its sums are made in blocks.
//                                 2 layers    6       48
//   logits, LM head               1.3         1.6     2.4
//   gradients                     2.3         2.7     3.9
//   of q and k                    3.1         3.9     6.4
// kNoise allows 2, 4 and 6 times the squares of the first, second and third line, since the memory-efficient and the
// flash backward on a GPU round more often. The published H200 results, where the logits' norm reached 2.2 at 32 layers
// and an element of q's gradient 126, stay a factor of 1.4 below the bounds.
//
// Fluctuation. Over seeds, the logarithm of a norm has a standard deviation of up to 2 sqrt(L) / d_model (for a width
// of 64, 0.03 at 2 layers and 0.22 at 48), since the errors of a row share the stream's directions. A chi-squared
// variable with d_model^2 / (8 L) degrees of freedom fluctuates as much; if half the number of a tensor's elements is
// smaller, it is taken as the degrees of freedom. The norms share half of the budget. The loss is a mean over tokens,
// whose errors have either sign, so it stays below the level.
//
// Largest element. A sum of independent uniform variables exceeds z of its standard deviations with a probability of at
// most 2 exp(-z^2 / 2); the union bound over all N elements of the case makes z = sqrt(2 ln(2 N / budget)). Rows and
// columns of a gradient differ in their noise (`local`). In the gradient of the LM head, rows of words that are not
// targets have the same rounding errors as rows of targets, from softmax's sum. With fewer tokens than words, the rms
// to which these rows' tolerance is relative is smaller by sqrt(1 + vocab_size / tokens), so `local` is multiplied by
// this factor.
//
// Ranks. A mean over ranks has the same tolerance. It rounds partial sums once per rank, which adds up to sqrt(ranks /
// 3) in these units for 16-bit gradients: 1.6 at 8 ranks, where kNoise allows at least 3.7.
Tolerance rounding_tolerance(const ModelConfig& config, Quantity quantity, std::int64_t count,
                             ReferenceProducts products) {
  const Noise noise = kNoise.at(static_cast<std::size_t>(quantity));
  const auto layers = static_cast<double>(config.size.num_layers);
  const double roundoff = product_roundoff(config) + (products == ReferenceProducts::kTf32 ? kTf32Loss : 0.0);
  const double level = roundoff * std::sqrt(noise.base + noise.by_depth * noise_of_depth(config.size));
  if (quantity == Quantity::kLoss) return {.relative = level, .of_rms = 0.0, .absolute = 0.0};

  const double tensors = static_cast<double>(config.batch) + 4.0 +
                         static_cast<double>(block_parameters(config.size)) * layers;  // loss included
  const auto width = static_cast<double>(config.size.d_model);
  const double degrees = std::min(static_cast<double>(count) / 2.0, width * width / (8.0 * layers));
  const double norm = level * norm_fluctuation(degrees, kShare / tensors);

  const auto tokens = static_cast<double>(config.batch * config.context);
  const auto vocabulary = static_cast<double>(config.size.vocab_size);
  const double elements = tokens * vocabulary + static_cast<double>(parameter_count(config.size));
  const double deviations = sum_bound(elements, kShare);
  const double local = is_of_head(quantity) ? noise.local * std::sqrt(1.0 + vocabulary / tokens) : noise.local;
  const double element = local * deviations * norm;
  const double lost = lost_probability(config, quantity);
  return {.relative = kRelativeShare * element,
          .of_rms = element,
          .absolute = lost,
          .of_norm = std::hypot(norm, kLostShare * lost * std::sqrt(tokens))};
}

// A float32 reference rounds p once, and the update with an error of some 5 u of the learning rate. A right update
// therefore differs from it by at most 4 u p.
Tolerance update_tolerance() {
  return {.relative = kUpdateRoundings * kFloatRoundoff,
          .of_rms = 0.0,
          .absolute = kUpdateRelative * AdamWOptions{}.learning_rate};
}

Tolerance update_norm_tolerance() { return {.relative = kUpdateNormRelative, .of_rms = 0.0, .absolute = 0.0}; }

Tolerance moment_tolerance() { return {.relative = kUpdateRelative, .of_rms = 0.0, .absolute = kSmallestSquare}; }

}  // namespace tbench::model
