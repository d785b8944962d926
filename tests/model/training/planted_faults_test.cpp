// How much the verification of a model step sees: steps that are wrong in one respect each, and the share of them that
// is found. A fault counts as found if the check before the timing or the one after it fails, in every precision given.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
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
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/layers/layers.hpp"
#include "model/training/verify_trainer.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model::planted {
namespace {

constexpr std::int64_t kLayers = 4;
constexpr std::int64_t kRows = 4;
constexpr std::int64_t kFaultyLayer = 2;

const ModelSize kShallow{.name = "shallow", .d_model = 64, .d_ff = 128, .num_layers = kLayers, .num_heads = 4};
const ModelSize kDeep{.name = "deep", .d_model = 96, .d_ff = 192, .num_layers = 48, .num_heads = 4};

/// What the faulty functions remember from one call to the next; fresh for every trainer.
struct State {
  std::int64_t attention_calls{}, norm_calls{}, feed_forward_calls{};
  at::Tensor norm_input;
  FeedForwardWeights weights_before;
  std::vector<FeedForwardWeights> first_weights;
  at::Tensor first_tokens;
  std::vector<at::Tensor> leaves;  // of the trainer, where a fault reaches for them
  at::Tensor old_gradient;
};
State& state() {
  static State one;
  return one;
}

// Embedding and batch

/// All rows of the batch from the first: a stride of zero.
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

at::Tensor gradient_of_row_0_alone(const at::Tensor& weight, const at::Tensor& tokens) {
  return at::cat({eager_embedding(weight, tokens.narrow(0, 0, 1)),
                  eager_embedding(weight, tokens.narrow(0, 1, tokens.size(0) - 1)).detach()});
}

/// The tokens of the first call for ever, as a graph captured once would read them from a copy.
at::Tensor tokens_of_the_first_call(const at::Tensor& weight, const at::Tensor& tokens) {
  if (!state().first_tokens.defined()) state().first_tokens = tokens.clone();
  return eager_embedding(weight, state().first_tokens);
}

/// Puts the first leaf's gradient of some earlier step back, after the step has cleared it.
at::Tensor gradient_left_in_place(const at::Tensor& weight, const at::Tensor& tokens) {
  if (state().leaves.empty()) return eager_embedding(weight, tokens);
  state().leaves.front().mutable_grad() = state().old_gradient.clone();
  return eager_embedding(weight.detach(), tokens);
}

at::Tensor gradient_added_up(const at::Tensor& weight, const at::Tensor& tokens) {
  if (!state().leaves.empty()) state().leaves.front().mutable_grad() = state().old_gradient.clone();
  return eager_embedding(weight, tokens);
}

// Norms, and the residual stream, which their input is

at::Tensor noting_norm(const at::Tensor& x, const at::Tensor& weight) {
  state().norm_input = x;
  return eager_rms_norm(x, weight);
}

template <std::int64_t kCall>  // of the 2 * kLayers + 1 in a forward pass; -1: all
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

/// Halves of a head turn against each other instead of neighbours.
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
at::Tensor faulty_attention(const at::Tensor& x, const AttentionWeights& weights, const AttentionTables& tables) {
  const std::int64_t batch = x.size(0), context = x.size(1), d_model = x.size(2);
  const std::int64_t head_dim = d_model / tables.num_heads;
  const bool is_faulty_layer = state().attention_calls++ % kLayers == kFaultyLayer;
  const auto project = [&](const at::Tensor& weight) {
    return at::linear(x, weight).view({batch, context, tables.num_heads, head_dim}).transpose(1, 2);
  };
  at::Tensor q = turned<kFault>(project(weights.q), tables.rope, true);
  at::Tensor k =
      turned<kFault>(project(kFault == In::kKeysAndValuesSwapped ? weights.v : weights.k), tables.rope, false);
  if (kFault == In::kQueriesAndKeysSwapped) std::swap(q, k);
  if (kFault == In::kKeysOfAnotherRow) k = k.roll(1, 0);
  if (kFault == In::kInBfloat16) q = q.to(at::kBFloat16).to(q.scalar_type());
  const at::Tensor v = project(kFault == In::kKeysAndValuesSwapped ? weights.k : weights.v);
  double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  if (kFault == In::kScale || (kFault == In::kScaleOfOneLayer && is_faulty_layer)) scale *= 1.1;
  if (kFault == In::kNoScale) scale = 1.0;
  at::Tensor scores = at::matmul(q, k.transpose(-2, -1)).mul(scale);
  if (!(kFault == In::kNotCausal && is_faulty_layer)) scores = at::where(tables.mask, scores, tables.minus_infinity);
  at::Tensor attended = at::matmul(eager_softmax(scores), v);
  if (kFault == In::kHeadsReversed) attended = attended.flip(1);
  const at::Tensor y = at::linear(attended.transpose(1, 2).reshape({batch, context, d_model}),
                                  kFault == In::kTransposedOutput ? weights.output.t() : weights.output);
  return kFault == In::kNoResidual ? y.sub(state().norm_input) : y;
}

AttentionTables with_mask(const AttentionTableConfig& config, std::int64_t diagonal) {
  AttentionTables tables = make_eager_attention_tables(config);
  tables.mask = tables.mask.new_ones(tables.mask.sizes()).tril(diagonal);
  tables.mask.select(1, 0).fill_(true);  // a row that sees nothing would be NaN
  return tables;
}

/// Angles (position + shift) * theta^(-2i / head_dim).
AttentionTables with_angles(const AttentionTableConfig& config, double theta, double shift) {
  AttentionTables tables = make_eager_attention_tables(config);
  const auto wide = at::TensorOptions{}.dtype(at::kDouble);
  const at::Tensor exponents = at::arange(0, config.head_dim, 2, wide).div(static_cast<double>(config.head_dim));
  const at::Tensor angles =
      at::outer(at::arange(config.context, wide).add(shift), at::pow(at::scalar_tensor(theta, wide), exponents.neg()));
  tables.rope = {.cos = at::cos(angles).to(config.options), .sin = at::sin(angles).to(config.options)};
  return tables;
}

AttentionTables turning_backward(const AttentionTableConfig& config) {
  AttentionTables tables = make_eager_attention_tables(config);
  tables.rope.sin = tables.rope.sin.neg();
  return tables;
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

/// w2 read as if it were stored by columns.
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

/// A copy of the weights in the compute dtype that is made once: stale as soon as the optimizer has stepped.
at::Tensor stale_weights(const at::Tensor& x, const FeedForwardWeights& weights) {
  const auto layer = static_cast<std::size_t>(state().feed_forward_calls++ % kLayers);
  std::vector<FeedForwardWeights>& copies = state().first_weights;
  if (copies.size() <= layer) {
    copies.push_back({.w1 = weights.w1.detach().to(at::kBFloat16).to(at::kFloat),
                      .w2 = weights.w2.detach().to(at::kBFloat16).to(at::kFloat),
                      .w3 = weights.w3.detach().to(at::kBFloat16).to(at::kFloat)});
  }
  // Values of the copy, gradients of the weights.
  const auto value_of = [](const at::Tensor& copy, const at::Tensor& weight) {
    return copy.add(weight.sub(weight.detach()));
  };
  return eager_swiglu(x, {.w1 = value_of(copies[layer].w1, weights.w1),
                          .w2 = value_of(copies[layer].w2, weights.w2),
                          .w3 = value_of(copies[layer].w3, weights.w3)});
}

at::Tensor gradient_missing(const at::Tensor& x, const FeedForwardWeights& weights) {
  return eager_swiglu(x, {.w1 = weights.w1, .w2 = weights.w2, .w3 = weights.w3.detach()});
}

/// Right values; w1 gets the gradient of w3, and the other way round.
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

// Gradients and optimizer, changed in a trainer

void multiply_gradient(Trainer& trainer, double factor) {
  trainer.parameters().leaves()[5].register_hook([factor](const at::Tensor& gradient) { return gradient.mul(factor); });
}

/// Runs a step and keeps the first leaf's gradient, for the functions above to put it back.
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

/// As if the moments had been corrected for a bias that many steps have taken away.
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

struct Fault {
  std::string name;
  Pass pass;  // the first that can see it
  void (*in_layers)(LayerOps& ops){};
  void (*in_trainer)(Trainer& trainer){};
  std::vector<Precision> precisions{Precision::kBf16, Precision::kFp32};
  ModelSize size{kShallow};
};

void append(std::vector<Fault>& faults, const std::vector<Fault>& more) {
  faults.insert(faults.end(), more.begin(), more.end());
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

template <In kFault>
void plant_in_attention(LayerOps& ops) {
  ops.attention = &faulty_attention<kFault>;
  if (kFault == In::kNoResidual) ops.rms_norm = &noting_norm;
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
         ops.make_attention_tables = [](const AttentionTableConfig& config) { return with_angles(config, 5e5, 0.0); };
       }},
      {"RoPE turning backward", kPass, [](LayerOps& ops) { ops.make_attention_tables = &turning_backward; }},
      {"every position one late", kPass,
       [](LayerOps& ops) {
         ops.make_attention_tables = [](const AttentionTableConfig& config) {
           return with_angles(config, kRopeTheta, 1.0);
         };
       }},
      {"a future token seen", kPass,
       [](LayerOps& ops) {
         ops.make_attention_tables = [](const AttentionTableConfig& config) { return with_mask(config, 1); };
       }},
      {"the token itself not seen", kPass,
       [](LayerOps& ops) {
         ops.make_attention_tables = [](const AttentionTableConfig& config) { return with_mask(config, -1); };
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

std::vector<Fault> all_faults() {
  std::vector<Fault> faults = forward_faults();
  append(faults, attention_faults());
  append(faults, backward_faults());
  append(faults, optimizer_faults());
  return faults;
}

ModelConfig config_of(const Fault& fault, Precision precision) {
  return {.size = fault.size,
          .context = 32,
          .batch = kRows,
          .pass = fault.pass,
          .precision = precision,
          .impl = "eager",
          .device = DeviceKind::kCpu,
          .seed = 7,
          .vocab_size = 500};
}

/// What a case does: verified, used, verified again on other data.
/// @return  the message of the verification that failed, or "" if none did
std::string message_of(const Fault& fault, Precision precision) {
  state() = {};
  ModelImpl impl = eager_impl();
  if (fault.in_layers != nullptr) fault.in_layers(impl.ops);
  Trainer trainer{config_of(fault, precision), impl};
  if (fault.in_trainer != nullptr) fault.in_trainer(trainer);
  const Verification before = verify_trainer(trainer);
  if (!before.passed) return before.message;
  trainer.step();
  const Verification after = verify_trainer(trainer, trainer.config().seed + 1);
  return after.passed ? "" : after.message;
}

// The survivor. RoPE turns q and k by their positions, and scores depend on the difference alone: a shift of all
// positions changes no result.
const std::vector<std::string> kSurvivors{"every position one late"};

TEST(PlantedFaults, AllButTheNamedSurvivorAreFound) {
  const OneThread one_thread;
  std::vector<std::string> survivors;
  const std::vector<Fault> faults = all_faults();
  for (const Fault& fault : faults) {
    bool is_found = true;
    for (const Precision precision : fault.precisions) {
      const std::string message = message_of(fault, precision);
      is_found = is_found && !message.empty();
      std::cout << fmt::format("{} in {}: {}\n", fault.name, to_string(precision),
                               message.empty() ? "NOT FOUND" : message);
    }
    if (!is_found) survivors.push_back(fault.name);
  }
  state() = {};
  std::cout << fmt::format("mutation score: {} of {}; survivors: {}\n", faults.size() - survivors.size(), faults.size(),
                           fmt::join(survivors, ", "));
  EXPECT_GE(faults.size(), 30U);
  EXPECT_EQ(survivors, kSurvivors);
}

TEST(PlantedFaults, WithoutAFaultNothingIsFound) {
  const OneThread one_thread;
  const auto message_without = [](const ModelSize& size, Precision precision) {
    return message_of({.name = "none", .pass = Pass::kTrainStep, .size = size}, precision);
  };
  for (const Precision precision : {Precision::kBf16, Precision::kFp32, Precision::kFp16}) {
    EXPECT_EQ(message_without(kShallow, precision), "") << to_string(precision);
  }
  EXPECT_EQ(message_without(kDeep, Precision::kBf16), "");
  EXPECT_EQ(message_without(kDeep, Precision::kFp32), "");
}

}  // namespace
}  // namespace tbench::model::planted
