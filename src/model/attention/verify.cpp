#include "model/attention/verify.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "model/torch/rounding.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

// The largest number of scores compared with float64; one pair is always compared. An H200 computes the reference of
// this number, forward and backward, in about 0.1 s (its float64 products run at 60 TFLOP/s), and one CPU core in about
// 1 s.
constexpr std::int64_t kGpuComparedScores = std::int64_t{1} << 28;
constexpr std::int64_t kCpuComparedScores = std::int64_t{1} << 24;
/// The divisor of these numbers for the queries of all pairs.
constexpr std::int64_t kShareOfQueries = 4;
// The number of scores, over all launches, of pairs whose o and lse are computed for the hidden rows of dk and dv; and
// the smallest number of launches for which they are computed.
constexpr std::int64_t kGpuPairScores = std::int64_t{1} << 31;
constexpr std::int64_t kCpuPairScores = std::int64_t{1} << 25;
constexpr std::int64_t kMinPairLaunches = 8;

std::int64_t compared_scores(const AttentionConfig& config) {
  return config.device == DeviceKind::kCuda ? kGpuComparedScores : kCpuComparedScores;
}

// Heads of q that share a head of k and v are verified as one head that has the queries of all of them: o, lse and dq
// have a row per query in either view, and the sums over queries in dk and dv are then those over all sharing heads.

AttentionShape folded_shape(AttentionShape shape) {
  shape.seq_q *= shape.group();
  shape.heads = shape.key_heads();
  shape.kv_heads = 0;
  return shape;
}

/// Returns [batch, heads, seq_q, ...] as [batch, key_heads(), group() * seq_q, ...]; a tensor with other extents, which
/// is wrong, as it is.
at::Tensor folded_queries(const at::Tensor& tensor, const AttentionShape& shape) {
  if (!tensor.defined() || shape.group() == 1 || tensor.dim() < 3 || tensor.size(1) != shape.heads) return tensor;
  return tensor.detach().unflatten(1, {shape.key_heads(), shape.group()}).flatten(2, 3);
}

AttentionOperands folded(AttentionOperands operands) {
  const AttentionShape shape = operands.config.shape;
  operands.q = folded_queries(operands.q, shape);
  operands.grad_o = folded_queries(operands.grad_o, shape);
  operands.config.shape = folded_shape(shape);
  return operands;
}

AttentionOutputs folded(AttentionOutputs outputs, const AttentionShape& shape) {
  for (at::Tensor* const tensor : {&outputs.o, &outputs.lse, &outputs.dq}) *tensor = folded_queries(*tensor, shape);
  return outputs;
}

/// Overwrites a pass's results with NaN. The allocator gives this memory to the next pass of the same sizes, so
/// elements that the next pass does not write are found.
void poison(const AttentionOutputs& outputs) {
  const at::NoGradGuard no_grad;
  for (at::Tensor tensor : {outputs.o, outputs.lse, outputs.dq, outputs.dk, outputs.dv}) {
    if (tensor.defined()) tensor.fill_(std::numeric_limits<double>::quiet_NaN());
  }
}

/// Compares the chosen (batch, head) pairs with float64; all elements of other pairs must be finite.
class PairComparison {
 public:
  PairComparison(const AttentionRunner& runner, std::vector<std::int64_t> chosen)
      : operands_{folded(runner.operands())},
        seq_q_{runner.operands().config.shape.seq_q},
        chosen_{std::move(chosen)},
        index_{at::tensor(chosen_)} {
    index_ = index_.to(operands_.q.device());
  }

  [[nodiscard]] AttentionReference reference() const {
    return attention_reference({.q = pairs(operands_.q),
                                .k = pairs(operands_.k),
                                .v = pairs(operands_.v),
                                .queries = positions(),
                                .grad_o = operands_.grad_o.defined() ? pairs(operands_.grad_o) : at::Tensor{},
                                .scale = operands_.scale,
                                .causal = operands_.config.shape.causal});
  }

  void add(const std::string& name, const at::Tensor& actual, const at::Tensor& expected, const Tolerance& tolerance,
           const at::Tensor& row_allowance = {}) {
    if (!partial()) {
      // Uses the tensor's own shape, so that messages have the tensor's indexes.
      const AttentionShape& shape = operands_.config.shape;
      comparison_.add(name, actual, expected.unflatten(0, {shape.batch, shape.heads}), tolerance, row_allowance);
      return;
    }
    const at::Tensor whole = shape_of_all(expected);
    if (!actual.defined() || actual.sizes() != whole.sizes()) return comparison_.add(name, actual, whole, tolerance);
    comparison_.add(fmt::format("{} of pairs {}", name, fmt::join(chosen_, ", ")), pairs(actual), expected, tolerance,
                    row_allowance);
    const at::Tensor odd = at::isfinite(actual).logical_not().sum();
    comparison_.add(fmt::format("elements of {} that are not finite", name), odd, at::zeros_like(odd), {});
  }

  /// Compares o for evenly spaced queries of every pair, if not all pairs are compared; `choice` determines the first
  /// query.
  void add_queries_of_all(const at::Tensor& o, Tolerance tolerance, std::uint64_t choice) {
    if (!partial() || o.sizes() != operands_.q.sizes()) return;
    const AttentionShape& shape = operands_.config.shape;
    const std::int64_t count = std::clamp<std::int64_t>(
        compared_scores(operands_.config) / kShareOfQueries / (pair_count() * shape.seq_kv), 1, shape.seq_q);
    query_step_ = (shape.seq_q + count - 1) / count;
    const auto first = static_cast<std::int64_t>(choice % static_cast<std::uint64_t>(query_step_));
    const auto queries = [&](const at::Tensor& tensor) { return tensor.slice(1, first, shape.seq_q, query_step_); };
    const at::Tensor q = operands_.q.detach().flatten(0, 1), k = operands_.k.detach().flatten(0, 1),
                     v = operands_.v.detach().flatten(0, 1);
    const auto index = q.options().dtype(at::kLong);
    const at::Tensor position = at::arange(first, shape.seq_q, query_step_, index).remainder(seq_q_);
    const at::Tensor hidden = at::arange(shape.seq_kv, index).gt(position.unsqueeze(1));
    std::vector<at::Tensor> expected;
    for (std::int64_t pair = 0; pair < pair_count(); ++pair) {
      const auto of_pair = [&](const at::Tensor& all) { return all.narrow(0, pair, 1).to(at::kDouble); };
      at::Tensor scores = at::bmm(of_pair(queries(q)), of_pair(k).transpose(1, 2)).mul_(operands_.scale);
      if (shape.causal) scores.masked_fill_(hidden, -std::numeric_limits<double>::infinity());
      expected.push_back(at::bmm(at::softmax(scores, -1), of_pair(v)));
    }
    tolerance.of_norm = std::numeric_limits<double>::infinity();  // compared only for whole pairs
    comparison_.add(fmt::format("o of queries {} + {} i of all pairs", first, query_step_),
                    queries(o.detach().flatten(0, 1)), at::cat(expected), tolerance);
  }

  /// Returns the chosen pairs of a tensor [pairs, ...].
  [[nodiscard]] at::Tensor of_pairs(const at::Tensor& all) const { return all.index_select(0, index_); }

  [[nodiscard]] Verification finish() {
    std::string reference = "float64 of the formulas, of the same inputs";
    if (partial()) {
      reference += fmt::format(
          "; {} of {} pairs of batch and head in whole, of the others every {}th query's output; their elements are "
          "finite",
          chosen_.size(), pair_count(), query_step_);
    }
    return comparison_.finish(std::move(reference));
  }

 private:
  [[nodiscard]] std::int64_t pair_count() const { return operands_.config.shape.batch * operands_.config.shape.heads; }
  [[nodiscard]] bool partial() const { return std::cmp_less(chosen_.size(), pair_count()); }
  [[nodiscard]] at::Tensor pairs(const at::Tensor& tensor) const {
    return tensor.detach().flatten(0, 1).index_select(0, index_);
  }

  /// Returns the positions of the queries of a pair, or an undefined tensor if they are the indexes.
  [[nodiscard]] at::Tensor positions() const {
    const AttentionShape& shape = operands_.config.shape;
    if (!shape.causal || shape.seq_q == seq_q_) return {};
    return at::arange(shape.seq_q, operands_.q.options().dtype(at::kLong)).remainder(seq_q_);
  }

  /// Returns a tensor without data that has the shape of a reference of all pairs.
  [[nodiscard]] at::Tensor shape_of_all(const at::Tensor& expected) const {
    std::vector<std::int64_t> sizes = expected.sizes().vec();
    sizes.front() = operands_.config.shape.heads;
    sizes.insert(sizes.begin(), operands_.config.shape.batch);
    return expected.new_empty({}).expand(sizes);
  }

  AttentionOperands operands_;  // folded
  std::int64_t seq_q_;          // of a head of q
  std::vector<std::int64_t> chosen_;
  at::Tensor index_;
  std::int64_t query_step_{};
  Comparison comparison_;
};

}  // namespace

namespace {

/// Hidden rows of one (batch, head) pair, and their reference.
class HiddenPair {
 public:
  HiddenPair(const AttentionOperands& operands, const HiddenRows& hidden) : operands_{operands}, hidden_{hidden} {}

  [[nodiscard]] bool has_key_gradients() const {
    const AttentionShape& shape = operands_.config.shape;
    const std::int64_t scores = operands_.config.device == DeviceKind::kCuda ? kGpuPairScores : kCpuPairScores;
    const std::int64_t launches = std::max(kMinPairLaunches, scores / (shape.seq_q * shape.seq_kv));
    return operands_.grad_o.defined() && std::cmp_less(hidden_.order, launches);
  }

  /// Returns the reference of the hidden rows of dk and dv, which have the same indexes.
  [[nodiscard]] AttentionKeyGradients key_rows() const { return key_gradients(input({}), places(kDk)); }

  /// Returns the reference of the hidden rows of o, lse and dq, which have the same indexes. dk and dv are not usable.
  [[nodiscard]] AttentionReference rows_reference() const {
    return attention_reference(input(places(hidden_.rows[kO].defined() ? kO : kDq)));
  }

  /// Adds the rows of an output, if the output exists.
  /// @param expected  [n, columns]
  void add(Comparison& comparison, AttentionOutput output, const char* name, const at::Tensor& expected,
           Tolerance tolerance, const at::Tensor& row_allowance = {}) const {
    if (!hidden_.values[output].defined()) return;
    tolerance.of_norm = std::numeric_limits<double>::infinity();  // compared only for whole pairs
    std::string text = fmt::format("rows of {} of {}", name, hidden_.launch);
    if (row_allowance.defined()) {
      comparison.add(std::move(text), hidden_.values[output], expected, widened(tolerance), row_allowance);
    } else {
      comparison.add_batched(std::move(text), hidden_.values[output], expected, widened(tolerance));
    }
  }

 private:
  /// Returns the positions of an output's hidden rows within the pair.
  [[nodiscard]] at::Tensor places(AttentionOutput output) const {
    const AttentionShape& shape = operands_.config.shape;
    const bool is_of_keys = output == kDk || output == kDv;
    return hidden_.rows[output].sub(hidden_.group * (is_of_keys ? shape.seq_kv : shape.seq_q));
  }

  [[nodiscard]] AttentionReferenceInput input(const at::Tensor& queries) const {
    const auto of_pair = [&](const at::Tensor& all) { return all.detach().flatten(0, 1).narrow(0, hidden_.group, 1); };
    const auto of_queries = [&](const at::Tensor& all) {
      if (!all.defined()) return at::Tensor{};
      return queries.defined() ? of_pair(all).index_select(1, queries) : of_pair(all);
    };
    return {.q = of_queries(operands_.q),
            .k = of_pair(operands_.k),
            .v = of_pair(operands_.v),
            .queries = queries,
            .grad_o = of_queries(operands_.grad_o),
            .scale = operands_.scale,
            .causal = operands_.config.shape.causal};
  }

  const AttentionOperands& operands_;
  const HiddenRows& hidden_;
};

}  // namespace

std::vector<std::int64_t> compared_pairs(const AttentionConfig& config, std::int64_t launches) {
  const AttentionShape& shape = config.shape;
  const std::int64_t budget = compared_scores(config) / launches;
  std::vector<std::int64_t> pairs(static_cast<std::size_t>(shape.batch * shape.heads));
  std::iota(pairs.begin(), pairs.end(), std::int64_t{0});
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(1, budget / (shape.seq_q * shape.seq_kv)));
  if (count >= pairs.size()) return pairs;
  // Takes the last pair, and the first of the other pairs after a partial shuffle.
  std::mt19937_64 random{config.seed};
  for (std::size_t i = 0; i + 1 < count; ++i) std::swap(pairs[i], pairs[i + random() % (pairs.size() - 1 - i)]);
  pairs[count - 1] = std::exchange(pairs.back(), pairs[count - 1]);
  pairs.resize(count);
  std::ranges::sort(pairs);
  return pairs;
}

Verification compare_attention(const AttentionRunner& runner, const AttentionOutputs& results, std::uint64_t choice) {
  AttentionConfig config = runner.operands().config;
  const AttentionShape shape = config.shape;
  const AttentionOutputs outputs = folded(results, shape);
  config.seed = choice;
  config.shape = folded_shape(shape);
  const std::vector<std::int64_t> pairs = compared_pairs(config);
  const AttentionTolerances tolerances =
      attention_tolerances(config.precision, shape, static_cast<std::int64_t>(pairs.size()));
  const std::string view = shape.group() == 1 ? "" : " by heads of k and v";  // of the indexes in messages
  PairComparison comparison{runner, pairs};
  {
    const at::NoGradGuard no_grad;
    const AttentionReference reference = comparison.reference();
    const bool has_gradients_alone = !outputs.o.defined() && outputs.dq.defined();
    if (!has_gradients_alone) {
      comparison.add("o" + view, outputs.o, reference.o, tolerances.o);
      comparison.add_queries_of_all(
          outputs.o, attention_tolerances(config.precision, shape, shape.batch * shape.key_heads()).o, choice);
    }
    if (outputs.lse.defined()) comparison.add("lse" + view, outputs.lse, reference.lse, tolerances.lse);
    if (config.pass != AttentionPass::kForward) {
      comparison.add("dq" + view, outputs.dq, reference.dq, tolerances.dq,
                     reference.dq_of_rowsum.mul(tolerances.dq_of_rowsum));
      comparison.add("dk", outputs.dk, reference.dk, tolerances.dk);
      comparison.add("dv", outputs.dv, reference.dv, tolerances.dv);
    }
  }
  return comparison.finish();
}

void add_attention_rows(const AttentionRunner& runner, const HiddenRows& hidden, Comparison& comparison) {
  const at::NoGradGuard no_grad;
  const AttentionConfig& config = runner.operands().config;
  const HiddenPair pair{runner.operands(), hidden};
  const AttentionTolerances tolerances = attention_tolerances(config.precision, config.shape, /*pairs=*/1);
  if (pair.has_key_gradients()) {
    const AttentionKeyGradients keys = pair.key_rows();
    pair.add(comparison, kDk, "dk", keys.dk, tolerances.dk);
    pair.add(comparison, kDv, "dv", keys.dv, tolerances.dv);
  }
  const AttentionReference rows = pair.rows_reference();
  pair.add(comparison, kO, "o", rows.o.squeeze(0), tolerances.o);
  pair.add(comparison, kLse, "lse", rows.lse.view({-1, 1}), tolerances.lse);
  if (!rows.dq.defined()) return;
  pair.add(comparison, kDq, "dq", rows.dq.squeeze(0), tolerances.dq,
           rows.dq_of_rowsum.flatten().mul(tolerances.dq_of_rowsum));
}

void add_attention_sums(const AttentionRunner& runner, const RowDigests& sums, Comparison& comparison) {
  const at::NoGradGuard no_grad;
  AttentionConfig config = runner.operands().config;
  config.seed = sums.hidden;
  const std::vector<std::int64_t> chosen = compared_pairs(config, static_cast<std::int64_t>(kDigestedLaunches));
  const AttentionTolerances tolerances =
      attention_tolerances(config.precision, config.shape, static_cast<std::int64_t>(chosen.size()));
  const PairComparison pairs{runner, chosen};
  const AttentionReference reference = pairs.reference();
  const auto add = [&](AttentionOutput output, const char* name, const at::Tensor& expected, const Tolerance& tolerance,
                       const at::Tensor& row_allowance = {}) {
    if (!sums.digests[output].defined()) return;
    const at::Tensor rows = expected.flatten(0, 1);  // [rows of the pairs, columns]
    const at::Tensor digests = sums.digests[output].view({config.shape.batch * config.shape.heads, -1});
    comparison.add(fmt::format("{} of {}, by sums with random signs", name, sums.launch),
                   pairs.of_pairs(digests).view({-1, 1}), at::mv(rows, sums.signs[output]).unsqueeze(1), {},
                   signed_sum_bounds(rows, widened(tolerance), row_allowance, kVerificationBudget));
  };
  add(kO, "o", reference.o, tolerances.o);
  add(kLse, "lse", reference.lse.unsqueeze(-1), tolerances.lse);
  if (!reference.dq.defined()) return;
  add(kDq, "dq", reference.dq, tolerances.dq, reference.dq_of_rowsum.flatten().mul(tolerances.dq_of_rowsum));
  add(kDk, "dk", reference.dk, tolerances.dk);
  add(kDv, "dv", reference.dv, tolerances.dv);
}

Verification verify_attention(AttentionRunner& runner, std::uint64_t seed) {
  poison(runner.outputs());
  if (runner.operands().config.seed != seed) runner.fill(seed);
  Verification verdict = compare_attention(runner, runner.outputs());
  if (const auto changed = runner.changed_operand(); verdict.passed && changed) {
    verdict.passed = false;
    verdict.message = *changed + ": the implementation changed it";
  }
  runner.restore();
  return verdict;
}

}  // namespace tbench::model
