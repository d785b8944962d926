// Tests steps with other forms of layers on a GPU: grouped heads, a head_dim of their own, tied tables, norms of q and
// k. Steps pass both verifications in every precision, as CUDA graphs, too, and planted faults of `fused` fail.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/fused/fused_passes.hpp"
#include "model/training/trainer.hpp"
#include "model/training/verify_trainer.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

/// The forms that a step may have, by name. Heads have 16 columns if the form does not say otherwise.
struct NamedForm {
  const char* name;
  const char* text;
};
const std::vector<NamedForm> kGpuForms{{"kv_heads_1", ",kv_heads=1"},
                                       {"kv_heads_2", ",kv_heads=2"},
                                       {"head_dim_32", ",head_dim=32"},
                                       {"kv_heads_2_head_dim_64", ",kv_heads=2,head_dim=64"},
                                       {"tied", ",tied"},
                                       {"qk_norm", ",qk_norm"},
                                       {"qk_norm_kv_heads_2_head_dim_80", ",qk_norm,kv_heads=2,head_dim=80"},
                                       {"all", ",kv_heads=2,head_dim=32,tied,qk_norm,theta=1000000"}};

ModelConfig gpu_step_of_form(const std::string& text, const std::string& impl, Pass pass, Precision precision) {
  ModelConfig config = gpu_step(impl, pass, precision);
  config.size = parse_model_size("form:64,256,3,4,vocab=1000" + text);
  return config;
}

class EveryFormOnGpu : public GpuTest,
                       public testing::WithParamInterface<std::tuple<NamedForm, std::string, Precision, Execution>> {};

TEST_P(EveryFormOnGpu, VerifiesTwice) {
  const auto& [form, impl, precision, exec] = GetParam();
  for (const Pass pass : {Pass::kForward, Pass::kTrainStep}) {
    SCOPED_TRACE(to_string(pass));
    ModelConfig config = gpu_step_of_form(form.text, impl, pass, precision);
    config.exec = exec;
    const auto step = make_model_case(config);
    if (const auto reason = step->unsupported_reason()) GTEST_SKIP() << *reason;
    step->build();
    const Verification verdict = step->verify();
    EXPECT_TRUE(verdict.passed) << verdict.message;
    RecordProperty("worst_error", fmt::format("{:.3g} at {}", verdict.worst_error, verdict.worst_where));
    static_cast<void>(launch(*step));
    const auto again = step->verify_again();
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->passed) << again->message;
  }
}

std::string name_of_form(const testing::TestParamInfo<EveryFormOnGpu::ParamType>& info) {
  const auto& [form, impl, precision, exec] = info.param;
  return fmt::format("{}_{}_{}_{}", form.name, impl, to_string(precision), to_string(exec));
}

INSTANTIATE_TEST_SUITE_P(All, EveryFormOnGpu,
                         testing::Combine(testing::ValuesIn(kGpuForms), testing::Values("flash", "fused"),
                                          testing::ValuesIn(kAllOf<Precision>), testing::ValuesIn(kAllOf<Execution>)),
                         name_of_form);

// Planted faults of `fused`. Each is a ModelPasses around the right one.

/// Forwards every call to the passes of `fused`.
class WrappedPasses : public ModelPasses {
 public:
  explicit WrappedPasses(const PassesInputs& inputs) : right_{make_fused_passes(inputs)} {}
  at::Tensor logits(const at::Tensor& tokens) override { return right_->logits(tokens); }
  StepOutputs loss(const at::Tensor& tokens, const at::Tensor& targets) override {
    return right_->loss(tokens, targets);
  }
  void backward(const UpdateHook& update) override { right_->backward(update); }
  void parameters_changed() override { right_->parameters_changed(); }
  [[nodiscard]] const std::vector<at::Tensor>& copies() const override { return right_->copies(); }
  [[nodiscard]] std::optional<HeldBytes> held_bytes() const override { return right_->held_bytes(); }

 protected:
  std::unique_ptr<ModelPasses> right_;
};

/// Normalises k with the weight of q's norm: the leaves of k's norms have the values of q's leaves while a pass runs.
class WeightOfQForK final : public WrappedPasses {
 public:
  explicit WeightOfQForK(const PassesInputs& inputs) : WrappedPasses{inputs}, parameters_{inputs.parameters} {}
  StepOutputs loss(const at::Tensor& tokens, const at::Tensor& targets) override {
    exchange();
    StepOutputs outputs = right_->loss(tokens, targets);
    restore();
    return outputs;
  }
  void backward(const UpdateHook& update) override {
    exchange();
    right_->backward(update);
    restore();
  }

 private:
  void exchange() {
    const at::NoGradGuard no_grad;
    for (const BlockWeights& block : parameters_.weights().blocks) {
      at::Tensor k = block.attention.k_norm;
      kept_.push_back(k.clone());
      k.copy_(block.attention.q_norm);
    }
  }
  void restore() {
    const at::NoGradGuard no_grad;
    for (std::size_t layer = 0; layer < kept_.size(); ++layer) {
      at::Tensor k = parameters_.weights().blocks[layer].attention.k_norm;
      k.copy_(kept_[layer]);
    }
    kept_.clear();
  }

  Parameters& parameters_;
  std::vector<at::Tensor> kept_;
};

/// Updates the tied table with the first matrices that are updated during backward, before the embedding's gradient is
/// added to its gradient.
class TiedTooEarly final : public WrappedPasses {
 public:
  explicit TiedTooEarly(const PassesInputs& inputs) : WrappedPasses{inputs} {}
  void backward(const UpdateHook& update) override {
    bool is_first = true;
    const UpdateHook early = [&](std::span<const std::size_t> leaves, int max_blocks) {
      std::vector<std::size_t> all(leaves.begin(), leaves.end());
      if (std::exchange(is_first, false)) all.push_back(0);
      update(all, max_blocks);
    };
    right_->backward(update ? early : update);
  }
};

/// Lets head h of q have the keys and values of head h modulo kv_heads: the right passes run with the heads of q, and
/// the columns of the output projection, in the order in which the wrong heads are neighbours.
class HeadModuloGroup final : public WrappedPasses {
 public:
  explicit HeadModuloGroup(const PassesInputs& inputs) : WrappedPasses{inputs}, size_{inputs.config.size} {}
  void parameters_changed() override {
    right_->parameters_changed();
    constexpr std::size_t kQkv = 2, kOutput = 3;  // leaves of the first layer
    const at::Tensor q = copies().at(kQkv).narrow(0, 0, size_.q_width()), output = copies().at(kOutput);
    q.copy_(regrouped(q, 0));
    output.copy_(regrouped(output, 1));
  }

 private:
  /// Returns heads 0, K, 2 K, ..., 1, K + 1, ... of a dimension that has all heads of q.
  [[nodiscard]] at::Tensor regrouped(const at::Tensor& matrix, std::int64_t dimension) const {
    const std::int64_t kv_heads = size_.kv_heads(), group = size_.num_heads / kv_heads;
    return matrix.unflatten(dimension, {group, kv_heads, size_.head_dim()})
        .transpose(dimension, dimension + 1)
        .flatten(dimension, dimension + 2)
        .contiguous();
  }

  ModelSize size_;
};

template <class Passes>
Verification verdict_with(const ModelConfig& config) {
  ModelImpl impl = model_impls().at("fused");
  impl.make_passes = [](const PassesInputs& inputs) -> std::unique_ptr<ModelPasses> {
    return std::make_unique<Passes>(inputs);
  };
  Trainer trainer{config, impl};
  return verify_trainer(trainer, config.seed);
}

using FormFaultsGpu = GpuTest;

TEST_F(FormFaultsGpu, AHeadModuloTheKeyHeadsIsFound) {
  const ModelConfig config = gpu_step_of_form(",kv_heads=2", "fused", Pass::kTrainStep, Precision::kBf16);
  if (const auto reason = make_model_case(config)->unsupported_reason()) GTEST_SKIP() << *reason;
  const Verification right = verdict_with<WrappedPasses>(config);
  EXPECT_TRUE(right.passed) << right.message;
  EXPECT_FALSE(verdict_with<HeadModuloGroup>(config).passed);
}

TEST_F(FormFaultsGpu, ATiedTableUpdatedBeforeTheEmbeddingsGradientIsFound) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    const ModelConfig config = gpu_step_of_form(",tied", "fused", Pass::kTrainStep, precision);
    const Verification right = verdict_with<WrappedPasses>(config);
    EXPECT_TRUE(right.passed) << right.message;
    EXPECT_FALSE(verdict_with<TiedTooEarly>(config).passed) << to_string(precision);
  }
}

TEST_F(FormFaultsGpu, TheWeightOfQsNormForKIsFound) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    const ModelConfig config = gpu_step_of_form(",qk_norm", "fused", Pass::kTrainStep, precision);
    const Verification right = verdict_with<WrappedPasses>(config);
    EXPECT_TRUE(right.passed) << right.message;
    EXPECT_FALSE(verdict_with<WeightOfQForK>(config).passed) << to_string(precision);
  }
}

}  // namespace
}  // namespace tbench::model
