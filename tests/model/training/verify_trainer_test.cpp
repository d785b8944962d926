// Tests that the run-time check finds models that are wrong in one respect.
#include "model/training/verify_trainer.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/layers/layers.hpp"
#include "model/torch/dtype_observer.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::HasSubstr;

ModelConfig tiny(const std::string& impl, Pass pass, Precision precision) {
  ModelConfig config = tiny_step(impl, pass, precision);
  config.seed = 5;
  config.size.vocab_size = 1000;
  return config;
}

/// Multiplies q, and so the scores, by a factor: a wrong 1 / sqrt(head_dim).
at::Tensor wrong_scale(const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
  AttentionWeights scaled = weights;
  scaled.q = weights.q.mul(1.25);
  return eager_attention(x, scaled, constants);
}

/// Lets every query see one key too many.
AttentionConstants wrong_mask(const AttentionConstantsConfig& config) {
  AttentionConstants constants = make_eager_attention_constants(config);
  constants.mask = constants.mask.new_ones(constants.mask.sizes()).tril(1);
  return constants;
}

/// Shifts the positions by one.
AttentionConstants wrong_rope(const AttentionConstantsConfig& config) {
  AttentionConstants constants = make_eager_attention_constants(config);
  constants.rope.sin = constants.rope.sin.roll(1, 0);
  return constants;
}

/// Transposes v. Swapped strides have the same effect.
at::Tensor wrong_stride(const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
  AttentionWeights swapped = weights;
  swapped.v = weights.v.t();
  return eager_attention(x, swapped, constants);
}

/// Returns the right values, but gradients that are half as large again.
at::Tensor wrong_gradient(const at::Tensor& x, const FeedForwardWeights& weights) {
  const at::Tensor right = eager_swiglu(x, weights);
  return right.add(right.sub(right.detach()).mul(0.5));
}

/// Embeds one token of the batch's first row as NaN.
at::Tensor one_nan(const at::Tensor& weight, const at::Tensor& tokens) {
  const at::Tensor right = eager_embedding(weight, tokens);
  const at::Tensor nan = at::scalar_tensor(std::numeric_limits<double>::quiet_NaN(), right.options());
  return right.index_put({at::scalar_tensor(0, at::kLong), at::scalar_tensor(9, at::kLong)}, nan);
}

at::Tensor wrong_cross_entropy(const at::Tensor& logits, const at::Tensor& targets) {
  return model_impls().at("eager").ops.cross_entropy(logits, targets).mul(0.9);
}

struct Fault {
  std::string name;
  Pass pass;  // the first pass that can see it
  void (*plant)(LayerOps& ops);
  std::string where;  // must occur in the message
};

std::vector<Fault> faults() {
  return {
      {"scale", Pass::kForward, [](LayerOps& ops) { ops.attention = &wrong_scale; }, "logits"},
      {"mask", Pass::kForward, [](LayerOps& ops) { ops.make_attention_constants = &wrong_mask; }, "logits"},
      {"rope", Pass::kForward, [](LayerOps& ops) { ops.make_attention_constants = &wrong_rope; }, "logits"},
      {"stride", Pass::kForward, [](LayerOps& ops) { ops.attention = &wrong_stride; }, "logits"},
      {"nan", Pass::kForward, [](LayerOps& ops) { ops.embedding = &one_nan; }, "nan, the reference"},
      {"gradient", Pass::kForwardBackward, [](LayerOps& ops) { ops.feed_forward = &wrong_gradient; }, ".grad"},
      {"loss", Pass::kForwardBackward, [](LayerOps& ops) { ops.cross_entropy = &wrong_cross_entropy; }, ".grad"},
  };
}

class PlantedFault : public testing::TestWithParam<std::tuple<Fault, Precision>> {};

TEST_P(PlantedFault, IsSeen) {
  const auto& [fault, precision] = GetParam();
  const std::string name = "faulty_" + fault.name;
  if (model_impls().find(name) == nullptr) {
    ModelImpl impl = model_impls().at("eager");
    impl.name = name;
    fault.plant(impl.ops);
    model_impls().add(impl);
  }
  const auto step = make_model_case(tiny(name, fault.pass, precision));
  step->build();
  const Verification verdict = step->verify();
  EXPECT_FALSE(verdict.passed);
  EXPECT_GT(verdict.worst_error, 1.0);
  EXPECT_THAT(verdict.message, HasSubstr(fault.where));
}

INSTANTIATE_TEST_SUITE_P(All, PlantedFault,
                         testing::Combine(testing::ValuesIn(faults()),
                                          testing::Values(Precision::kFp32, Precision::kBf16)),
                         [](const auto& run) {
                           return std::get<0>(run.param).name + "_" + std::string{to_string(std::get<1>(run.param))};
                         });

TEST(VerifyTrainer, SeesAWrongOptimizer) {
  Trainer trainer{tiny("eager", Pass::kTrainStep, Precision::kFp32), model_impls().at("eager")};
  // A first step must start with moments of zero, but this step does not. A lost bias correction or a step counted
  // twice has the same effect. The previous step has one row: if it had the same gradients, only the moments would be
  // wrong.
  trainer.parameters().clear_gradients();
  trainer.backward(trainer.loss(trainer.tokens().narrow(0, 0, 1), trainer.targets().narrow(0, 0, 1)));
  trainer.optimizer()->step();
  trainer.parameters().initialise(trainer.config().seed);
  ASSERT_FALSE(trainer.stepped());
  const Verification verdict = verify_trainer(trainer);
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.message, HasSubstr("after a step"));
}

TEST(VerifyTrainer, SeesOneWrongWeightOfTheTimedModel) {
  // The reference reads the same weights, so the fault is in a tensor that it does not read: the fused copy of q, k and
  // v.
  Trainer trainer{tiny("sdpa", Pass::kForward, Precision::kFp32), model_impls().at("sdpa")};
  at::Tensor& qkv = const_cast<ModelWeights&>(trainer.parameters().weights()).blocks[1].attention.qkv;
  qkv = qkv.detach().clone();
  qkv[3][5].add_(0.5);
  EXPECT_FALSE(verify_trainer(trainer).passed);
}

TEST(VerifyTrainer, LeavesEverythingAsItWasBuilt) {
  for (const auto precision : {Precision::kFp32, Precision::kFp16}) {
    Trainer trainer{tiny("sdpa", Pass::kTrainStep, precision), model_impls().at("sdpa")};
    EXPECT_TRUE(verify_trainer(trainer).passed);
    trainer.step({});  // verifying a model in use starts again from its seed
    EXPECT_TRUE(verify_trainer(trainer).passed);
    Trainer fresh{trainer.config(), model_impls().at("sdpa")};
    for (int step = 0; step < 2; ++step) {
      trainer.step({});
      fresh.step({});
    }
    for (std::size_t i = 0; i < fresh.parameters().named().size(); ++i) {
      EXPECT_TRUE(fresh.parameters().named()[i].value.equal(trainer.parameters().named()[i].value))
          << fresh.parameters().named()[i].name;
    }
  }
}

TEST(VerifyTrainer, AnotherSeedIsOtherDataInTheSameTensors) {
  Trainer trainer{tiny("sdpa", Pass::kTrainStep, Precision::kFp32), model_impls().at("sdpa")};
  const std::uint64_t seed = trainer.config().seed;
  const at::Tensor tokens = trainer.tokens(), weight = trainer.parameters().named().front().value;
  const at::Tensor first_tokens = tokens.clone(), first_weight = weight.clone();
  trainer.reset(seed + 1);
  EXPECT_FALSE(tokens.equal(first_tokens));
  EXPECT_FALSE(weight.equal(first_weight));
  const Verification verdict = verify_trainer(trainer, seed + 1);
  EXPECT_TRUE(verdict.passed) << verdict.message;
  EXPECT_TRUE(tokens.equal(first_tokens));
  EXPECT_TRUE(weight.equal(first_weight));
}

/// Returns the number of calls of each operation that `action` calls directly, not from within another operation.
template <class Action>
std::map<std::string, int> operations_in(const Action& action) {
  const OneThread one_thread;
  const DtypeObserver observer;
  action();
  std::map<std::string, int> counts;
  for (const ObservedOperation& operation : observer.operations()) {
    ++counts[operation.name];
    ++counts["all"];
  }
  return counts;
}

/// @param seed_offset  0 for the first verification, another value for the second
std::map<std::string, int> operations_of(std::int64_t layers, std::int64_t rows, std::uint64_t seed_offset) {
  ModelConfig config = tiny("sdpa", Pass::kTrainStep, Precision::kBf16);
  config.size.num_layers = layers;
  config.batch = rows;
  Trainer trainer{config, model_impls().at("sdpa")};
  return operations_in([&] { EXPECT_TRUE(verify_trainer(trainer, config.seed + seed_offset).passed); });
}

TEST(VerifyTrainer, TheSecondVerificationIsLessThanHalfTheOperations) {
  const std::map<std::string, int> first = operations_of(4, 4, 0), second = operations_of(4, 4, 1);
  EXPECT_LT(second.at("all"), first.at("all") / 2);
}

/// Returns how often the host reads a number for which it would have to wait if a GPU computed it.
int waits_in(const std::map<std::string, int>& operations) {
  int waits = 0;
  for (const char* name : {"aten::item", "aten::is_nonzero", "aten::equal", "aten::nonzero"}) {
    if (const auto found = operations.find(name); found != operations.end()) waits += found->second;
  }
  return waits;
}

TEST(VerifyTrainer, TheHostReadsNoNumberAParameter) {
  const at::Tensor numbers = at::ones({3});
  EXPECT_EQ(waits_in(operations_in([&] { EXPECT_EQ(numbers.sum().item<float>(), 3.0F); })), 1);
  EXPECT_EQ(waits_in(operations_of(2, 2, 1)), 0);
  EXPECT_EQ(waits_in(operations_of(8, 2, 1)), 0);
}

TEST(VerifyTrainer, RowsRunTogetherAsFarAsTheirMemoryIsSmall) {
  ModelConfig config = tiny("sdpa", Pass::kTrainStep, Precision::kBf16);
  config.batch = 4;
  EXPECT_EQ(rows_together(config, at::kFloat), 4);
  config.size = {.name = "2.7B", .d_model = 2560, .d_ff = 10240, .num_layers = 32, .num_heads = 32};
  config.context = 512;
  // 4 * 512 * (6 * 32 * 512 + 20 * 2560 + 7 * 10240) = 453 MB per row. Three rows fit in 1.61 GB, so there are two
  // batches of two.
  EXPECT_EQ(rows_together(config, at::kFloat), 2);
  EXPECT_EQ(rows_together(config, at::kDouble), 1);
  config.context = 8192;
  EXPECT_EQ(rows_together(config, at::kFloat), 1);
}

TEST(VerifyTrainer, RowsTogetherAreThoseOneByOne) {
  const OneThread one_thread;
  ModelConfig config = tiny("eager", Pass::kForwardBackward, Precision::kFp32);
  config.batch = 5;
  const Trainer trainer{config, model_impls().at("eager")};
  const auto results_of = [&](std::int64_t rows) {
    Reference reference{config, trainer.parameters(), config.seed, at::kDouble, rows, reference_tiles(config)};
    std::vector<at::Tensor> results;
    reference.forward(trainer.tokens(),
                      [&](std::int64_t, std::int64_t, const at::Tensor& logits) { results.push_back(logits); });
    results.push_back(reference.backward(
        trainer.targets(), [&](std::size_t, const at::Tensor& gradient) { results.push_back(gradient.clone()); }));
    return results;
  };
  const std::vector<at::Tensor> one_by_one = results_of(1), together = results_of(2);  // batches of two, two and one
  ASSERT_EQ(one_by_one.size(), 5 + trainer.parameters().named().size() + 1);
  ASSERT_EQ(one_by_one.size(), together.size());
  for (std::size_t i = 0; i < together.size(); ++i) {
    const Tolerance tolerance{.relative = 1e-10, .of_rms = 1e-10, .absolute = 0.0};
    EXPECT_TRUE(compare_tensors("result", together[i], one_by_one[i], tolerance).passed) << i;
  }
}

TEST(VerifyTrainer, LongContextsHaveAReferenceInTiles) {
  ModelConfig config = tiny("sdpa", Pass::kTrainStep, Precision::kBf16);
  config.size.num_heads = 32;
  const auto tiles_at = [&](std::int64_t context) {
    config.context = context;
    const ReferenceTiles tiles = reference_tiles(config);
    return std::pair{tiles.queries, tiles.logits};
  };
  EXPECT_EQ(tiles_at(512), (std::pair<std::int64_t, std::int64_t>{512, 512}));
  EXPECT_EQ(tiles_at(2047), (std::pair<std::int64_t, std::int64_t>{2047, 2047}));
  EXPECT_EQ(tiles_at(2048), (std::pair<std::int64_t, std::int64_t>{1024, 1024}));
  EXPECT_EQ(tiles_at(8192), (std::pair<std::int64_t, std::int64_t>{1024, 1024}));
  // 2^28 scores are 256 queries x 32 heads x 32,768 keys.
  EXPECT_EQ(tiles_at(32768), (std::pair<std::int64_t, std::int64_t>{256, 1024}));
}

/// Returns the logits, all gradients and the loss of a reference in these tiles.
std::vector<at::Tensor> results_in(const ReferenceTiles& tiles, const ModelConfig& config, const Trainer& trainer) {
  Reference reference{config, trainer.parameters(), config.seed, at::kDouble, 2, tiles};
  std::vector<at::Tensor> rows(static_cast<std::size_t>(config.batch)), results;
  reference.forward(trainer.tokens(), [&](std::int64_t row, std::int64_t first, const at::Tensor& logits) {
    at::Tensor& whole = rows.at(static_cast<std::size_t>(row));
    EXPECT_EQ(first, whole.defined() ? whole.size(0) : 0);
    whole = whole.defined() ? at::cat({whole, logits}) : logits;
  });
  results.push_back(reference.backward(
      trainer.targets(), [&](std::size_t, const at::Tensor& gradient) { results.push_back(gradient.clone()); }));
  results.insert(results.end(), rows.begin(), rows.end());
  return results;
}

TEST(VerifyTrainer, TilesGiveTheResultsOfTheWhole) {
  const OneThread one_thread;
  for (const char* const form : {"", ",kv_heads=2,head_dim=8,tied,qk_norm"}) {
    ModelConfig config = tiny("eager", Pass::kForwardBackward, Precision::kFp32);
    config.size = parse_model_size(std::string{"form:64,256,2,4,vocab=500"} + form);
    config.batch = 3;
    const Trainer trainer{config, model_impls().at("eager")};
    const std::vector<at::Tensor> whole =
        results_in({.queries = config.context, .logits = config.context}, config, trainer);
    // Tiles of one token, with a rest, and one that ends with the context.
    for (const std::int64_t tile : {std::int64_t{1}, config.context / 2 - 1, config.context / 2}) {
      const std::vector<at::Tensor> tiled = results_in({.queries = tile, .logits = tile + 1}, config, trainer);
      ASSERT_EQ(tiled.size(), whole.size());
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const Tolerance tolerance{.relative = 1e-10, .of_rms = 1e-10, .absolute = 0.0};
        EXPECT_TRUE(compare_tensors("result", tiled[i], whole[i], tolerance).passed) << form << " " << tile << " " << i;
      }
    }
  }
}

TEST(VerifyTrainer, ALongContextIsVerified) {
  const OneThread one_thread;
  ModelConfig config = tiny("sdpa", Pass::kForwardBackward, Precision::kBf16);
  config.size = parse_model_size("long:64,128,1,2,kv_heads=1,vocab=300");
  config.batch = 1;
  config.context = 2500;  // two tiles and a rest
  Trainer trainer{config, model_impls().at("sdpa")};
  for (const std::uint64_t seed : {config.seed, config.seed + 1}) {
    const Verification verdict = verify_trainer(trainer, seed);
    EXPECT_TRUE(verdict.passed) << verdict.message;
  }
  const Verification wrong = verify_trainer(trainer, config.seed, [&](StepOutputs& outputs) {
    make_checked_step(trainer, outputs);
    outputs.logits.narrow(1, 2400, 1).add_(1.0);
  });
  EXPECT_FALSE(wrong.passed);
  EXPECT_THAT(wrong.message, HasSubstr("logits[0, 2048:]"));
}

TEST(VerifyTrainer, AReferenceInTf32IsForBfloat16OnAGpuAndAllowedItsLoss) {
  ModelConfig config = tiny("eager", Pass::kForward, Precision::kBf16);
  EXPECT_EQ(second_products(config), ReferenceProducts::kItsOwnType);
  config.device = DeviceKind::kCuda;
  EXPECT_EQ(second_products(config), ReferenceProducts::kTf32);
  // 2^-8 + 2 * 2^-11 / (2 ln 2) = 2^-8 * (1 + 0.18034)
  for (const Quantity quantity : {Quantity::kLoss, Quantity::kLogits, Quantity::kGradient}) {
    const Tolerance exact = rounding_tolerance(config, quantity, 1000);
    const Tolerance tf32 = rounding_tolerance(config, quantity, 1000, ReferenceProducts::kTf32);
    EXPECT_NEAR(tf32.relative / exact.relative, 1.18034, 1e-5);
  }
  for (const Precision precision : {Precision::kFp16, Precision::kTf32, Precision::kFp32}) {
    config.precision = precision;
    EXPECT_EQ(second_products(config), ReferenceProducts::kItsOwnType) << to_string(precision);
  }
}

/// The head's gradient lacks a target's probability p when 1 - p is rounded to 11 digits, so the tolerance allows for
/// it.
TEST(VerifyTrainer, TheHeadsGradientInFp16LacksTargetsProbabilities) {
  ModelConfig config = tiny("eager", Pass::kTrainStep, Precision::kFp16);
  config.size.vocab_size = 10000;
  const Tolerance head = rounding_tolerance(config, Quantity::kHeadGradient, 1000);
  EXPECT_DOUBLE_EQ(head.absolute, 1e-4);
  const double tokens = static_cast<double>(config.batch * config.context);
  const double other = rounding_tolerance(config, Quantity::kLogits, 1000).of_norm;  // for the same rounding errors
  EXPECT_NEAR(head.of_norm * head.of_norm - other * other, 0.25e-8 * tokens, 1e-12);
  EXPECT_EQ(rounding_tolerance(config, Quantity::kGradient, 1000).absolute, 0);
  EXPECT_EQ(rounding_tolerance(config, Quantity::kLogits, 1000).absolute, 0);
  config.size.vocab_size = 100;
  EXPECT_DOUBLE_EQ(rounding_tolerance(config, Quantity::kHeadGradient, 1000).absolute, 0x1p-11);
  config.precision = Precision::kBf16;
  EXPECT_EQ(rounding_tolerance(config, Quantity::kHeadGradient, 1000).absolute, 0);
}

TEST(VerifyTrainer, TolerancesScaleWithRoundOffAndDepth) {
  ModelConfig config = tiny("eager", Pass::kForward, Precision::kBf16);
  config.size.num_layers = 12;
  constexpr std::int64_t kElements = 1 << 20;
  // 2^-8 * sqrt(2 + 3.5 * ln(1 + 0.25 * 12)) = 2^-8 * sqrt(2 + 3.5 * 1.386294)
  EXPECT_NEAR(rounding_tolerance(config, Quantity::kLoss, 1).relative, 2.617638 / 256, 1e-8);
  // 64^2 / (8 * 12) = 42.67 degrees; x = ln((2 + 4 + 9 * 12) / 2.5e-4) = 13.03025;
  // sqrt(1 + 2 sqrt(0.305396) + 2 * 0.305396) = 1.648043
  EXPECT_NEAR(rounding_tolerance(config, Quantity::kLogits, kElements).of_norm, 2.617638 * 1.648043 / 256, 1e-5);
  EXPECT_GT(rounding_tolerance(config, Quantity::kGradient, 64).of_norm,
            rounding_tolerance(config, Quantity::kGradient, kElements).of_norm);
  const Tolerance shallow = rounding_tolerance(config, Quantity::kGradient, kElements);
  config.size.num_layers = 48;
  EXPECT_GT(rounding_tolerance(config, Quantity::kGradient, kElements).of_rms, shallow.of_rms);
  config.precision = Precision::kFp32;
  // 2^-24 * sqrt(256 / 6) for a product
  EXPECT_NEAR(rounding_tolerance(config, Quantity::kLoss, 1).relative,
              std::sqrt(256.0 / 6.0) * std::sqrt(2 + 3.5 * std::log(13.0)) * 0x1p-24, 1e-12);
  EXPECT_LT(rounding_tolerance(config, Quantity::kHeadGradient, kElements).of_rms, 1e-3);
}

}  // namespace
}  // namespace tbench::model
