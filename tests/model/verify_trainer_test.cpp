// The run-time check on models that are wrong in one respect: it must see each of them.
#include "tbench/model/verify_trainer.hpp"

#include <ATen/ops/scalar_tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tbench/model/embedding.hpp"
#include "tbench/model/swiglu.hpp"

namespace tbench::model {
namespace {

using testing::HasSubstr;

ModelStepConfig tiny(const std::string& impl, Pass pass, Precision precision) {
  return {.size = {.name = "tiny", .d_model = 64, .d_ff = 256, .num_layers = 2, .num_heads = 4},
          .context = 32,
          .batch = 2,
          .pass = pass,
          .precision = precision,
          .impl = impl,
          .device = DeviceKind::kCpu,
          .seed = 5,
          .vocab_size = 1000};
}

/// q grows by a factor, and the scores with it: a wrong 1 / sqrt(head_dim).
at::Tensor wrong_scale(const at::Tensor& x, const AttentionWeights& weights, const AttentionTables& tables) {
  AttentionWeights scaled = weights;
  scaled.q = weights.q.mul(1.25);
  return eager_attention(x, scaled, tables);
}

/// Every query sees one key too many.
AttentionTables wrong_mask(const AttentionTableConfig& config) {
  AttentionTables tables = make_eager_attention_tables(config);
  tables.mask = tables.mask.new_ones(tables.mask.sizes()).tril(1);
  return tables;
}

/// Positions off by one.
AttentionTables wrong_rope(const AttentionTableConfig& config) {
  AttentionTables tables = make_eager_attention_tables(config);
  tables.rope.sin = tables.rope.sin.roll(1, 0);
  return tables;
}

/// v transposed: a swapped stride.
at::Tensor wrong_stride(const at::Tensor& x, const AttentionWeights& weights, const AttentionTables& tables) {
  AttentionWeights swapped = weights;
  swapped.v = weights.v.t();
  return eager_attention(x, swapped, tables);
}

/// Right forward, wrong backward: half as large again.
at::Tensor wrong_gradient(const at::Tensor& x, const FeedForwardWeights& weights) {
  const at::Tensor right = eager_swiglu(x, weights);
  return right.add(right.sub(right.detach()).mul(0.5));
}

/// One token of the batch's first row is embedded as NaN.
at::Tensor one_nan(const at::Tensor& weight, const at::Tensor& tokens) {
  const at::Tensor right = eager_embedding(weight, tokens);
  const at::Tensor nan = at::scalar_tensor(std::numeric_limits<double>::quiet_NaN(), right.options());
  return right.index_put({at::scalar_tensor(0, at::kLong), at::scalar_tensor(9, at::kLong)}, nan);
}

at::Tensor wrong_cross_entropy(const at::Tensor& logits, const at::Tensor& targets) {
  return eager_impl().ops.cross_entropy(logits, targets).mul(0.9);
}

struct Fault {
  std::string name;
  Pass pass;  // the first pass that can see it
  void (*plant)(LayerOps& ops);
  std::string where;  // part of the message
};

std::vector<Fault> faults() {
  return {
      {"scale", Pass::kForward, [](LayerOps& ops) { ops.attention = &wrong_scale; }, "logits"},
      {"mask", Pass::kForward, [](LayerOps& ops) { ops.make_attention_tables = &wrong_mask; }, "logits"},
      {"rope", Pass::kForward, [](LayerOps& ops) { ops.make_attention_tables = &wrong_rope; }, "logits"},
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
  if (find_model_impl(name) == nullptr) {
    ModelImpl impl = eager_impl();
    impl.name = name;
    fault.plant(impl.ops);
    register_model_impl(impl);
  }
  ModelStep step{tiny(name, fault.pass, precision)};
  step.build();
  const Verification verdict = step.verify();
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
  Trainer trainer{tiny("eager", Pass::kTrainStep, Precision::kFp32), *find_model_impl("eager")};
  // Moments that a first step does not have, as a lost bias correction or a step counted twice would leave them.
  trainer.parameters().clear_gradients();
  trainer.backward(trainer.loss(trainer.tokens(), trainer.targets()));
  trainer.optimizer()->step();
  trainer.parameters().initialise(trainer.config().seed);
  ASSERT_FALSE(trainer.stepped());
  const Verification verdict = verify_trainer(trainer);
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.message, HasSubstr("after a step"));
}

TEST(VerifyTrainer, SeesOneWrongWeightOfTheTimedModel) {
  // The reference reads the same weights, so the fault sits where it does not look: in the fused copy of q, k and v.
  Trainer trainer{tiny("sdpa", Pass::kForward, Precision::kFp32), *find_model_impl("sdpa")};
  at::Tensor& qkv = const_cast<ModelWeights&>(trainer.parameters().weights()).blocks[1].attention.qkv;
  qkv = qkv.detach().clone();
  qkv[3][5].add_(0.5);
  EXPECT_FALSE(verify_trainer(trainer).passed);
}

TEST(VerifyTrainer, LeavesEverythingAsItWasBuilt) {
  for (const auto precision : {Precision::kFp32, Precision::kFp16}) {
    Trainer trainer{tiny("sdpa", Pass::kTrainStep, precision), *find_model_impl("sdpa")};
    EXPECT_TRUE(verify_trainer(trainer).passed);
    trainer.step({});  // verifying a model in use starts over from its seed
    EXPECT_TRUE(verify_trainer(trainer).passed);
    Trainer fresh{trainer.config(), *find_model_impl("sdpa")};
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

TEST(VerifyTrainer, TolerancesScaleWithRoundOffAndDepth) {
  ModelStepConfig config = tiny("eager", Pass::kForward, Precision::kBf16);
  config.size.num_layers = 3;
  const Tolerance shallow = forward_tolerance(config);
  EXPECT_DOUBLE_EQ(shallow.of_rms, 12.5 * 2 / 256);  // 12.5 * 2^-8 * sqrt(1 + 3)
  config.size.num_layers = 15;
  EXPECT_DOUBLE_EQ(forward_tolerance(config).of_rms, 2 * shallow.of_rms);
  config.precision = Precision::kFp32;
  EXPECT_LT(gradient_tolerance(config, true).of_rms, 1e-3);
}

}  // namespace
}  // namespace tbench::model
