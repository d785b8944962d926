#include "tests/model/training/planted_faults.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <limits>
#include <utility>

namespace tbench::model::planted {
namespace {

// Embedding and batch

/// Reads the first row for all rows of the batch: a stride of zero.
at::Tensor rows_from_row_0(const at::Tensor& weight, const at::Tensor& tokens) {
  return eager_embedding(weight, tokens.narrow(0, 0, 1).expand_as(tokens));
}

at::Tensor rows_shifted(const at::Tensor& weight, const at::Tensor& tokens) {
  return eager_embedding(weight, tokens.roll(1, 0));
}

at::Tensor nan_in_row_3(const at::Tensor& weight, const at::Tensor& tokens) {
  const at::Tensor x = eager_embedding(weight, tokens).clone();
  x.select(0, 3).select(0, tokens.size(1) - 1).narrow(0, 7, 1).fill_(std::numeric_limits<double>::quiet_NaN());
  return x;
}

at::Tensor last_token_lost(const at::Tensor& weight, const at::Tensor& tokens) {
  const at::Tensor wrong = tokens.clone();
  wrong.select(0, kRows - 1).narrow(0, tokens.size(1) - 1, 1).fill_(0);
  return eager_embedding(weight, wrong);
}

/// Always uses the tokens of the first call, like a graph that was captured with a copy of them.
at::Tensor tokens_of_the_first_call(const at::Tensor& weight, const at::Tensor& tokens) {
  if (!state().first_tokens.defined()) state().first_tokens = tokens.clone();
  return eager_embedding(weight, state().first_tokens);
}

// Norms, and the residual stream, which is their input

at::Tensor noting_norm(const at::Tensor& x, const at::Tensor& weight) {
  state().norm_input = x;
  return eager_rms_norm(x, weight);
}

template <std::int64_t kCall>  // index among the 2 * kLayers + 1 calls of a forward pass; -1: all calls
at::Tensor skipped_norm(const at::Tensor& x, const at::Tensor& weight) {
  const std::int64_t call = state().norm_calls++ % (2 * kLayers + 1);
  return kCall == -1 || call == kCall ? x.mul(weight) : eager_rms_norm(x, weight);
}

at::Tensor norm_around_the_mean(const at::Tensor& x, const at::Tensor& weight) {
  return eager_rms_norm(x.sub(x.mean(-1, /*keepdim=*/true)), weight);
}

// Attention

enum class In {
  kScale,
  kScaleOfOneLayer,
  kNoScale,
  kKeysOfAnotherRow,
  kLateQueries,
  kNoRope,
  kRopeInHalves,
  kNotCausal,
  kHeadsReversed,
  kKeysAndValuesSwapped,
  kQueriesAndKeysSwapped,
  kTransposedOutput,
  kNoResidual,
  kInBfloat16,
};

/// Rotates the two halves of a head against each other instead of neighbours.
at::Tensor rope_in_halves(const at::Tensor& x, const RopeTable& table) {
  const auto halves = x.chunk(2, -1);
  return at::cat(
      {halves[0].mul(table.cos).sub(halves[1].mul(table.sin)), halves[0].mul(table.sin).add(halves[1].mul(table.cos))},
      -1);
}

template <In kFault>
at::Tensor turned(const at::Tensor& x, const RopeTable& table, bool is_query) {
  if (kFault == In::kNoRope) return x;
  if (kFault == In::kRopeInHalves) return rope_in_halves(x, table);
  if (kFault == In::kLateQueries && is_query) {
    return eager_rope(x, {.cos = table.cos.roll(1, 0), .sin = table.sin.roll(1, 0)});
  }
  return eager_rope(x, table);
}

/// eager_attention with one fault.
template <In kFault>
at::Tensor faulty_attention(const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
  const std::int64_t batch = x.size(0), context = x.size(1), d_model = x.size(2);
  const std::int64_t head_dim = d_model / constants.num_heads;
  const bool is_faulty_layer = state().attention_calls++ % kLayers == kFaultyLayer;
  const auto project = [&](const at::Tensor& weight) {
    return at::linear(x, weight).view({batch, context, constants.num_heads, head_dim}).transpose(1, 2);
  };
  at::Tensor q = turned<kFault>(project(weights.q), constants.rope, true);
  at::Tensor k =
      turned<kFault>(project(kFault == In::kKeysAndValuesSwapped ? weights.v : weights.k), constants.rope, false);
  if (kFault == In::kQueriesAndKeysSwapped) std::swap(q, k);
  if (kFault == In::kKeysOfAnotherRow) k = k.roll(1, 0);
  if (kFault == In::kInBfloat16) q = q.to(at::kBFloat16).to(q.scalar_type());
  const at::Tensor v = project(kFault == In::kKeysAndValuesSwapped ? weights.k : weights.v);
  double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  if (kFault == In::kScale || (kFault == In::kScaleOfOneLayer && is_faulty_layer)) scale *= 1.1;
  if (kFault == In::kNoScale) scale = 1.0;
  at::Tensor scores = at::matmul(q, k.transpose(-2, -1)).mul(scale);
  if (!(kFault == In::kNotCausal && is_faulty_layer))
    scores = at::where(constants.mask, scores, constants.minus_infinity);
  at::Tensor attended = at::matmul(eager_softmax(scores), v);
  if (kFault == In::kHeadsReversed) attended = attended.flip(1);
  const at::Tensor y = at::linear(attended.transpose(1, 2).reshape({batch, context, d_model}),
                                  kFault == In::kTransposedOutput ? weights.output.t() : weights.output);
  return kFault == In::kNoResidual ? y.sub(state().norm_input) : y;
}

AttentionConstants with_mask(const AttentionConstantsConfig& config, std::int64_t diagonal) {
  AttentionConstants constants = make_eager_attention_constants(config);
  constants.mask = constants.mask.new_ones(constants.mask.sizes()).tril(diagonal);
  constants.mask.select(1, 0).fill_(true);  // a row that sees no key would be NaN
  return constants;
}

/// Returns the constants for the angles (position + shift) * theta^(-2i / head_dim).
AttentionConstants with_angles(const AttentionConstantsConfig& config, double theta, double shift) {
  AttentionConstants constants = make_eager_attention_constants(config);
  const auto wide = at::TensorOptions{}.dtype(at::kDouble);
  const at::Tensor exponents = at::arange(0, constants.head_dim, 2, wide).div(static_cast<double>(constants.head_dim));
  const at::Tensor angles =
      at::outer(at::arange(config.context, wide).add(shift), at::pow(at::scalar_tensor(theta, wide), exponents.neg()));
  constants.rope = {.cos = at::cos(angles).to(config.options), .sin = at::sin(angles).to(config.options)};
  return constants;
}

AttentionConstants turning_backward(const AttentionConstantsConfig& config) {
  AttentionConstants constants = make_eager_attention_constants(config);
  constants.rope.sin = constants.rope.sin.neg();
  return constants;
}

// Feed-forward

at::Tensor gate_and_up_swapped(const at::Tensor& x, const FeedForwardWeights& weights) {
  return eager_swiglu(x, {.w1 = weights.w3, .w2 = weights.w2, .w3 = weights.w1});
}

at::Tensor without_up(const at::Tensor& x, const FeedForwardWeights& weights) {
  return at::linear(at::silu(at::linear(x, weights.w1)), weights.w2);
}

at::Tensor without_silu(const at::Tensor& x, const FeedForwardWeights& weights) {
  return at::linear(at::linear(x, weights.w1).mul(at::linear(x, weights.w3)), weights.w2);
}

at::Tensor with_sigmoid(const at::Tensor& x, const FeedForwardWeights& weights) {
  return at::linear(at::sigmoid(at::linear(x, weights.w1)).mul(at::linear(x, weights.w3)), weights.w2);
}

/// Reads w2 as if it were stored by columns.
at::Tensor w2_transposed(const at::Tensor& x, const FeedForwardWeights& weights) {
  const at::Tensor other = weights.w2.reshape({weights.w2.size(1), weights.w2.size(0)}).t();
  return eager_swiglu(x, {.w1 = weights.w1, .w2 = other, .w3 = weights.w3});
}

at::Tensor feed_forward_without_residual(const at::Tensor& x, const FeedForwardWeights& weights) {
  return eager_swiglu(x, weights).sub(state().norm_input);
}

at::Tensor one_layer_skipped(const at::Tensor& x, const FeedForwardWeights& weights) {
  const bool is_faulty_layer = state().feed_forward_calls++ % kLayers == kFaultyLayer;
  const at::Tensor y = eager_swiglu(x, weights);
  return is_faulty_layer ? y.mul(0.0) : y;
}

at::Tensor weights_of_the_layer_before(const at::Tensor& x, const FeedForwardWeights& weights) {
  const bool is_faulty_layer = state().feed_forward_calls++ % kLayers == kFaultyLayer;
  const at::Tensor y = eager_swiglu(x, is_faulty_layer ? state().weights_before : weights);
  state().weights_before = weights;
  return y;
}

/// Uses a copy of the weights in the compute dtype that is made only once, so it is stale after the optimizer's step.
at::Tensor stale_weights(const at::Tensor& x, const FeedForwardWeights& weights) {
  const auto layer = static_cast<std::size_t>(state().feed_forward_calls++ % kLayers);
  std::vector<FeedForwardWeights>& copies = state().first_weights;
  if (copies.size() <= layer) {
    copies.push_back({.w1 = weights.w1.detach().to(at::kBFloat16).to(at::kFloat),
                      .w2 = weights.w2.detach().to(at::kBFloat16).to(at::kFloat),
                      .w3 = weights.w3.detach().to(at::kBFloat16).to(at::kFloat)});
  }
  // Takes the values from the copy, but passes gradients to the weights.
  const auto value_of = [](const at::Tensor& copy, const at::Tensor& weight) {
    return copy.add(weight.sub(weight.detach()));
  };
  return eager_swiglu(x, {.w1 = value_of(copies[layer].w1, weights.w1),
                          .w2 = value_of(copies[layer].w2, weights.w2),
                          .w3 = value_of(copies[layer].w3, weights.w3)});
}

template <In kFault>
void plant_in_attention(LayerOps& ops) {
  ops.attention = &faulty_attention<kFault>;
  if (kFault == In::kNoResidual) ops.rms_norm = &noting_norm;
}

}  // namespace

State& state() {
  static State one;
  return one;
}

std::vector<Fault> forward_faults() {
  constexpr auto kPass = Pass::kForward;
  return {
      {"every row from row 0", kPass, [](LayerOps& ops) { ops.embedding = &rows_from_row_0; }},
      {"rows shifted by one", kPass, [](LayerOps& ops) { ops.embedding = &rows_shifted; }},
      {"NaN in row 3", kPass, [](LayerOps& ops) { ops.embedding = &nan_in_row_3; }},
      {"last token of the last row lost", kPass, [](LayerOps& ops) { ops.embedding = &last_token_lost; }},
      {"tokens of the first call", kPass, [](LayerOps& ops) { ops.embedding = &tokens_of_the_first_call; }},
      {"norm of one layer skipped", kPass, [](LayerOps& ops) { ops.rms_norm = &skipped_norm<2 * kFaultyLayer>; }},
      {"final norm skipped", kPass, [](LayerOps& ops) { ops.rms_norm = &skipped_norm<2 * kLayers>; }},
      {"every norm skipped", kPass, [](LayerOps& ops) { ops.rms_norm = &skipped_norm<-1>; }},
      {"norm around the mean", kPass, [](LayerOps& ops) { ops.rms_norm = &norm_around_the_mean; }},
      {"gate and up swapped", kPass, [](LayerOps& ops) { ops.feed_forward = &gate_and_up_swapped; }},
      {"silu without up", kPass, [](LayerOps& ops) { ops.feed_forward = &without_up; }},
      {"no silu", kPass, [](LayerOps& ops) { ops.feed_forward = &without_silu; }},
      {"sigmoid for silu", kPass, [](LayerOps& ops) { ops.feed_forward = &with_sigmoid; }},
      {"w2 transposed", kPass, [](LayerOps& ops) { ops.feed_forward = &w2_transposed; }},
      {"one feed-forward skipped", kPass, [](LayerOps& ops) { ops.feed_forward = &one_layer_skipped; }},
      {"weights of the layer before", kPass, [](LayerOps& ops) { ops.feed_forward = &weights_of_the_layer_before; }},
      {"stale weights in 16 bit", kPass, [](LayerOps& ops) { ops.feed_forward = &stale_weights; }},
      {"no residual around the feed-forward", kPass,
       [](LayerOps& ops) {
         ops.rms_norm = &noting_norm;
         ops.feed_forward = &feed_forward_without_residual;
       }},
  };
}

std::vector<Fault> attention_faults() {
  constexpr auto kPass = Pass::kForward;
  return {
      {"softmax scale 10 % off", kPass, &plant_in_attention<In::kScale>},
      {"softmax scale 10 % off in one layer", kPass, &plant_in_attention<In::kScaleOfOneLayer>},
      {.name = "softmax scale 10 % off in 48 layers",
       .pass = kPass,
       .in_layers = &plant_in_attention<In::kScale>,
       .size = kDeep},
      {"no softmax scale", kPass, &plant_in_attention<In::kNoScale>},
      {"keys of another row", kPass, &plant_in_attention<In::kKeysOfAnotherRow>},
      {"queries one position late", kPass, &plant_in_attention<In::kLateQueries>},
      {"no RoPE", kPass, &plant_in_attention<In::kNoRope>},
      {"RoPE in halves", kPass, &plant_in_attention<In::kRopeInHalves>},
      {"RoPE with another theta", kPass,
       [](LayerOps& ops) {
         ops.make_attention_constants = [](const AttentionConstantsConfig& config) {
           return with_angles(config, 5e5, 0.0);
         };
       }},
      {"RoPE turning backward", kPass, [](LayerOps& ops) { ops.make_attention_constants = &turning_backward; }},
      {"every position one late", kPass,
       [](LayerOps& ops) {
         ops.make_attention_constants = [](const AttentionConstantsConfig& config) {
           return with_angles(config, kRopeTheta, 1.0);
         };
       }},
      {"a future token seen", kPass,
       [](LayerOps& ops) {
         ops.make_attention_constants = [](const AttentionConstantsConfig& config) { return with_mask(config, 1); };
       }},
      {"the token itself not seen", kPass,
       [](LayerOps& ops) {
         ops.make_attention_constants = [](const AttentionConstantsConfig& config) { return with_mask(config, -1); };
       }},
      {"one layer not causal", kPass, &plant_in_attention<In::kNotCausal>},
      {"heads in reverse order", kPass, &plant_in_attention<In::kHeadsReversed>},
      {"keys and values swapped", kPass, &plant_in_attention<In::kKeysAndValuesSwapped>},
      {"queries and keys swapped", kPass, &plant_in_attention<In::kQueriesAndKeysSwapped>},
      {"output projection transposed", kPass, &plant_in_attention<In::kTransposedOutput>},
      {"no residual around attention", kPass, &plant_in_attention<In::kNoResidual>},
      {.name = "bfloat16 queries in float32",
       .pass = kPass,
       .in_layers = &plant_in_attention<In::kInBfloat16>,
       .precisions = {Precision::kFp32}},
  };
}

}  // namespace tbench::model::planted
