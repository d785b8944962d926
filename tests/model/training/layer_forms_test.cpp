// Tests steps with other forms of layers: grouped heads, a head_dim of their own, tied embeddings, norms of q and k,
// another theta. A right step passes both verifications, and a planted fault of each form fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "model/layers/attention.hpp"
#include "model/layers/layers.hpp"
#include "model/training/model_impl.hpp"
#include "model/training/trainer.hpp"
#include "model/training/verify_trainer.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

ModelSize size_of_form(const char* text) {
  ModelSize size = parse_model_size(std::string{"form:64,256,2,4,vocab=500"} + text);
  return size;
}

const std::vector<const char*> kForms{",kv_heads=1",
                                      ",kv_heads=2",
                                      ",head_dim=32",
                                      ",tied",
                                      ",qk_norm",
                                      ",theta=500000",
                                      ",kv_heads=2,head_dim=8,tied,qk_norm,theta=1000000"};

ModelConfig step_of_form(const ModelSize& size, const std::string& impl, Precision precision) {
  ModelConfig config = tiny_step(impl, Pass::kTrainStep, precision);
  config.size = size;
  return config;
}

TEST(LayerForms, PassBothVerifications) {
  for (const char* const text : kForms) {
    for (const char* const impl : {"eager", "sdpa"}) {
      for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
        const ModelConfig config = step_of_form(size_of_form(text), impl, precision);
        Trainer trainer{config, model_impls().at(impl)};
        EXPECT_EQ(trainer.parameters().count(), parameter_count(config.size)) << text;
        for (const std::uint64_t seed : {config.seed, config.seed + 1}) {
          const Verification verification = verify_trainer(trainer, seed);
          EXPECT_TRUE(verification.passed)
              << impl << " " << to_string(precision) << text << ": " << verification.message;
        }
      }
    }
  }
}

TEST(LayerForms, AreRefusedWhereAnImplementationHasOnlyTheCoursesLayers) {
  for (const auto& [text, what] :
       std::vector<std::pair<const char*, const char*>>{{",kv_heads=2", "shared key and value heads"},
                                                        {",head_dim=32", "head_dim apart from d_model / num_heads"},
                                                        {",tied", "tied embeddings"},
                                                        {",qk_norm", "norm of q and k"}}) {
    const ModelConfig config = step_of_form(size_of_form(text), "compiled", Precision::kBf16);
    EXPECT_EQ(layers_refusal(config), std::string{"impl:compiled has no "} + what + "; eager and sdpa have");
  }
  EXPECT_EQ(layers_refusal(step_of_form(size_of_form(",theta=500000"), "compiled", Precision::kBf16)), std::nullopt);
}

// Planted faults

/// Gives head h the keys and values of head h mod kv_heads.
at::Tensor head_mod_group(const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
  const std::int64_t group = constants.num_heads / constants.kv_heads;
  AttentionWeights wrong = weights;
  wrong.k = weights.k.repeat({group, 1});
  wrong.v = weights.v.repeat({group, 1});
  AttentionConstants plain = constants;
  plain.kv_heads = constants.num_heads;
  return eager_attention(x, wrong, plain);
}

at::Tensor norm_of_q_for_k(const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
  AttentionWeights wrong = weights;
  wrong.k_norm = weights.q_norm;
  return eager_attention(x, wrong, constants);
}

at::Tensor no_norms(const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
  AttentionWeights wrong = weights;
  wrong.q_norm = wrong.k_norm = at::Tensor{};
  return eager_attention(x, wrong, constants);
}

at::Tensor embedding_without_gradient(const at::Tensor& weight, const at::Tensor& tokens) {
  return eager_embedding(weight.detach(), tokens);
}

AttentionConstants theta_of_the_course(const AttentionConstantsConfig& config) {
  AttentionConstantsConfig wrong = config;
  wrong.size.rope_theta = kRopeTheta;
  return make_eager_attention_constants(wrong);
}

struct FormFault {
  const char* name;
  const char* form;
  std::function<void(LayerOps&)> plant;
};

const std::vector<FormFault> kFormFaults{
    {"head modulo the key heads", ",kv_heads=2", [](LayerOps& ops) { ops.attention = &head_mod_group; }},
    {"norm of q for k", ",qk_norm", [](LayerOps& ops) { ops.attention = &norm_of_q_for_k; }},
    {"no norms of q and k", ",qk_norm", [](LayerOps& ops) { ops.attention = &no_norms; }},
    {"tied gradient without the embedding", ",tied",
     [](LayerOps& ops) { ops.embedding = &embedding_without_gradient; }},
    {"theta of the course", ",theta=500000",
     [](LayerOps& ops) { ops.make_attention_constants = &theta_of_the_course; }}};

TEST(LayerForms, APlantedFaultIsFound) {
  for (const FormFault& fault : kFormFaults) {
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      ModelImpl impl = model_impls().at("eager");
      fault.plant(impl.ops);
      ModelConfig config = step_of_form(size_of_form(fault.form), "eager", precision);
      config.pass = Pass::kForwardBackward;  // the optimizer takes no parameter without a gradient
      Trainer trainer{config, impl};
      EXPECT_FALSE(verify_trainer(trainer, trainer.config().seed).passed) << fault.name << to_string(precision);
    }
  }
}

}  // namespace
}  // namespace tbench::model
