#include "model/attention/verify.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

// Scores compared with float64 at most, beyond one pair. An H200 does so many, forward and backward, in about 0.1 s
// (its float64 products run at 60 TFLOP/s), one core of a CPU in about 1 s.
constexpr std::int64_t kGpuComparedScores = std::int64_t{1} << 28;
constexpr std::int64_t kCpuComparedScores = std::int64_t{1} << 24;

// How far rounding moves a result, in unit round-offs u of the products' inputs: of an element, relative to the rms of
// its tensor or row, and as a norm. Measured with normal inputs on a CPU (naive and sdpa_flash; 2 to 2,048 keys, head
// dimension 8 to 512, causal and not, several seeds), the largest seen hardly depends on the shape, since inputs are
// exact and each of the products' and the softmax's roundings is an error of its own to every term:
//                float32          bfloat16 (float16 the same within a tenth)
//   o, dv        131    17.4      18.7    2.0
//   dq, dk       135    19.3      25.4    2.3
// (float32 has more roundings to a u: every addition of a sum makes one, where 16-bit products are summed in float32.)
// The constants are twice these. TF32 rounds the products' inputs only, like 16-bit storage.
struct ResultRoundings {
  double element;
  double norm;
};
constexpr ResultRoundings kFloatResults{.element = 270, .norm = 39};
constexpr ResultRoundings kShortResults{.element = 50, .norm = 4.6};
// A GPU's float32 products without TF32 add n terms one after the other, and each addition rounds a partial sum that is
// as large as the result: an error that grows with sqrt(n), apart from the one above. Of an element 0.4 to 4.7 sqrt(n)
// u were seen (H200, naive and compiled, 64 to 16,384 keys, head dimension 16 to 512); as a norm it is 0.32 sqrt(n) u
// (such sums imitated on a CPU, 1,024 to 16,384 terms). Nearly twice these.
constexpr ResultRoundings kFloatSums{.element = 9, .norm = 0.65};
// ds = p (dP - rowsum(grad_o o)) is zero for a query that sees one key, and the difference of two rounded numbers of
// size sqrt(head_dim): an error of some u whatever the rows' size. 65 u were seen in float32, also the precision of
// these two numbers with 16-bit inputs; with TF32 products dP has 2^-11, grad_o o 2^-24.
constexpr double kFloatUnit = 0x1p-24;
constexpr double kFloatFloor = 130;
constexpr double kTf32Floor = 8;
// The same shows in the norm of few keys: 4.4 u with two.
constexpr double kFewKeys = 2.0;
// In 16 bits o itself is rounded before grad_o o is summed: the sum is off by some u of the products' norm, and a row
// of dq by that times scale p k, whatever the row's size, which the difference may have made small. As n keys even out
// the values of o and of p k this goes as 1 / n: with two to eight keys and normal inputs up to 10.3 u were seen (2
// million rows, head dimension 16 to 128, bfloat16, half of what a row's size allows left for other roundings), from 64
// keys on none. Twice that.
constexpr double kShortRowsum = 20;
// lse is that of scores summed in float32 whatever the inputs: 26 u seen in float32; 1,109 with bfloat16 on a CPU,
// whose kernel then takes a short polynomial for exp. TF32 moves a score by 2^-11 of its size.
constexpr double kFloatLse = 52;
constexpr double kShortLse = 2200;
constexpr double kTf32Lse = 8;
constexpr double kLseRelative = 8;

/// @param terms  of the longest sum
ResultRoundings float_roundings(std::int64_t terms) {
  const double root = std::sqrt(static_cast<double>(terms));
  return {.element = std::hypot(kFloatResults.element, kFloatSums.element * root),
          .norm = std::hypot(kFloatResults.norm, kFloatSums.norm * root)};
}

/// Overwrites with NaN what a pass left, so that the allocator hands out NaN to the next pass of the same sizes, and
/// what that does not write is seen.
void poison(const AttentionOutputs& outputs) {
  const at::NoGradGuard no_grad;
  for (at::Tensor tensor : {outputs.o, outputs.lse, outputs.dq, outputs.dk, outputs.dv}) {
    if (tensor.defined()) tensor.fill_(std::numeric_limits<double>::quiet_NaN());
  }
}

/// Compares the chosen (batch, head) pairs with float64; all others must be finite.
class PairComparison {
 public:
  PairComparison(const AttentionRunner& runner, std::vector<std::int64_t> chosen)
      : operands_{runner.operands()}, chosen_{std::move(chosen)}, index_{at::tensor(chosen_)} {
    index_ = index_.to(operands_.q.device());
  }

  [[nodiscard]] AttentionReference reference() const {
    return attention_reference({.q = pairs(operands_.q),
                                .k = pairs(operands_.k),
                                .v = pairs(operands_.v),
                                .grad_o = operands_.grad_o.defined() ? pairs(operands_.grad_o) : at::Tensor{},
                                .scale = operands_.scale,
                                .causal = operands_.config.shape.causal});
  }

  void add(const std::string& name, const at::Tensor& actual, const at::Tensor& expected, const Tolerance& tolerance,
           const at::Tensor& row_allowance = {}) {
    if (!partial()) {
      // Under its own shape, so that an index in a message is that of the tensor.
      comparison_.add(name, actual, expected.view(actual.sizes()), tolerance, row_allowance);
      return;
    }
    comparison_.add(fmt::format("{} of pairs {}", name, fmt::join(chosen_, ", ")), pairs(actual), expected, tolerance,
                    row_allowance);
    const at::Tensor odd = at::isfinite(actual).logical_not().sum();
    comparison_.add(fmt::format("elements of {} that are not finite", name), odd, at::zeros_like(odd), {});
  }

  [[nodiscard]] Verification finish() const {
    std::string reference = "float64 of the formulas, of the same inputs";
    if (partial()) {
      reference += fmt::format("; {} of {} pairs of batch and head in whole, the others' elements are finite",
                               chosen_.size(), pair_count());
    }
    return comparison_.finish(std::move(reference));
  }

 private:
  [[nodiscard]] std::int64_t pair_count() const { return operands_.config.shape.batch * operands_.config.shape.heads; }
  [[nodiscard]] bool partial() const { return std::cmp_less(chosen_.size(), pair_count()); }
  [[nodiscard]] at::Tensor pairs(const at::Tensor& tensor) const {
    return tensor.detach().flatten(0, 1).index_select(0, index_);
  }

  const AttentionOperands& operands_;
  std::vector<std::int64_t> chosen_;
  at::Tensor index_;
  Comparison comparison_;
};

}  // namespace

std::vector<std::int64_t> compared_pairs(const AttentionConfig& config) {
  const AttentionShape& shape = config.shape;
  const std::int64_t budget = config.device == DeviceKind::kCuda ? kGpuComparedScores : kCpuComparedScores;
  std::vector<std::int64_t> pairs(static_cast<std::size_t>(shape.batch * shape.heads));
  std::iota(pairs.begin(), pairs.end(), std::int64_t{0});
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(1, budget / (shape.seq_q * shape.seq_kv)));
  if (count >= pairs.size()) return pairs;
  // The last stays; the first of the others, shuffled, join it.
  std::mt19937_64 random{config.seed};
  for (std::size_t i = 0; i + 1 < count; ++i) std::swap(pairs[i], pairs[i + random() % (pairs.size() - 1 - i)]);
  pairs[count - 1] = std::exchange(pairs.back(), pairs[count - 1]);
  pairs.resize(count);
  std::ranges::sort(pairs);
  return pairs;
}

AttentionTolerances attention_tolerances(Precision precision, std::int64_t seq_q, std::int64_t seq_kv) {
  const double unit = unit_roundoff(precision);
  const ResultRoundings roundings =
      precision == Precision::kFp32 ? float_roundings(std::max(seq_q, seq_kv)) : kShortResults;
  const Tolerance result{
      .relative = 0.0, .of_rms = roundings.element * unit, .absolute = 0.0, .of_norm = roundings.norm * unit};
  Tolerance score_gradient = result;
  score_gradient.absolute = (precision == Precision::kTf32 ? kTf32Floor * unit : kFloatFloor * kFloatUnit);
  score_gradient.of_norm *= 1.0 + kFewKeys / static_cast<double>(seq_kv);
  if (seq_kv == 1) score_gradient.of_norm = std::numeric_limits<double>::infinity();
  const double lse = precision == Precision::kFp32   ? kFloatLse * unit
                     : precision == Precision::kTf32 ? kTf32Lse * unit
                                                     : kShortLse * kFloatUnit;
  return {.output = result,
          .lse = {.relative = kLseRelative * kFloatUnit, .of_rms = 0.0, .absolute = lse},
          .score_gradient = score_gradient,
          .dq_of_rowsum = precision == Precision::kFp32 || precision == Precision::kTf32 ? 0.0 : kShortRowsum * unit};
}

Verification verify_attention(AttentionRunner& runner) {
  poison(runner.outputs());
  const AttentionOutputs outputs = runner.outputs();
  const AttentionConfig& config = runner.operands().config;
  const AttentionTolerances tolerances =
      attention_tolerances(config.precision, config.shape.seq_q, config.shape.seq_kv);
  PairComparison comparison{runner, compared_pairs(config)};
  {
    const at::NoGradGuard no_grad;
    const AttentionReference reference = comparison.reference();
    comparison.add("o", outputs.o, reference.o, tolerances.output);
    if (outputs.lse.defined()) comparison.add("lse", outputs.lse, reference.lse, tolerances.lse);
    if (config.pass != AttentionPass::kForward) {
      comparison.add("dq", outputs.dq, reference.dq, tolerances.score_gradient,
                     reference.dq_of_rowsum.mul(tolerances.dq_of_rowsum));
      comparison.add("dk", outputs.dk, reference.dk, tolerances.score_gradient);
      comparison.add("dv", outputs.dv, reference.dv, tolerances.output);
    }
  }
  const Verification verdict = comparison.finish();
  runner.restore();
  return verdict;
}

}  // namespace tbench::model
