// Compares the whole model with PyTorch: every tensor of the reference file, for both implementations and every
// precision of a CPU.
#include "model/training/trainer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tbench/model/model_case.hpp"

namespace tbench::model {
namespace {

/// Holds the file of tools/make_model_reference.py: PyTorch's results for a very small model.
struct ReferenceFile {
  nlohmann::json header;
  std::map<std::string, at::Tensor> tensors;
};

at::ScalarType dtype_named(const std::string& name) {
  const std::map<std::string, at::ScalarType> dtypes{
      {"float32", at::kFloat}, {"float64", at::kDouble}, {"int64", at::kLong}};
  return dtypes.at(name);
}

ReferenceFile read_reference() {
  const std::string stem = std::string{TBENCH_TEST_DATA} + "/model_reference";
  std::ifstream json_file{stem + ".json"};
  std::ifstream data_file{stem + ".bin", std::ios::binary};
  if (!json_file || !data_file) throw std::runtime_error{"cannot read " + stem + ".json and .bin"};
  const std::vector<char> data{std::istreambuf_iterator<char>{data_file}, {}};
  ReferenceFile file{.header = nlohmann::json::parse(json_file), .tensors = {}};
  for (const auto& entry : file.header.at("tensors")) {
    const at::Tensor tensor = at::empty(entry.at("shape").get<std::vector<std::int64_t>>(),
                                        at::TensorOptions{}.dtype(dtype_named(entry.at("dtype"))));
    const std::size_t offset = entry.at("offset");
    if (offset + tensor.nbytes() > data.size()) throw std::runtime_error{stem + ".bin is too short"};
    std::memcpy(tensor.data_ptr(), data.data() + offset, tensor.nbytes());
    file.tensors.emplace(entry.at("name"), tensor);
  }
  return file;
}

const ReferenceFile& reference_file() {
  static const ReferenceFile file = read_reference();
  return file;
}

/// @throws  std::runtime_error  with the tensor's name, if the file has no such tensor
at::Tensor reference_tensor(const std::string& name) {
  const auto found = reference_file().tensors.find(name);
  if (found == reference_file().tensors.end()) throw std::runtime_error{"no reference tensor " + name};
  return found->second;
}

/// Returns the configuration of the reference's model on the CPU.
ModelConfig reference_config(const std::string& impl, Pass pass, Precision precision) {
  const auto& config = reference_file().header.at("config");
  return {.size = {.name = "reference",
                   .d_model = config.at("d_model"),
                   .d_ff = config.at("d_ff"),
                   .num_layers = config.at("num_layers"),
                   .num_heads = config.at("num_heads"),
                   .vocab_size = config.at("vocab_size")},
          .context = config.at("context"),
          .batch = config.at("batch"),
          .pass = pass,
          .precision = precision,
          .impl = impl,
          .device = DeviceKind::kCpu,
          .seed = 1};
}

/// Sets every parameter to the reference's initial value.
void load_initial_values(const Parameters& parameters) {
  const at::NoGradGuard no_grad;
  for (const auto& parameter : parameters.named()) parameter.value.copy_(reference_tensor("initial/" + parameter.name));
}

/// Returns ||actual - expected|| / ||expected||, computed in float64.
double relative_error(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor wide = expected.detach().to(at::kDouble);
  return actual.detach().to(at::kDouble).sub(wide).norm().item<double>() / wide.norm().item<double>();
}

struct ReferenceRun {
  std::string impl;
  std::string label;  // label of the reference's results
  Precision precision{};
  at::ScalarType dtype{};
  double error{};         // of the norms of logits, loss and gradients: a few unit round-offs (2^-53, 2^-24, 2^-8)
  double update_error{};  // of the parameters' change in three steps
};

constexpr double kLearningRate = 1e-3;
constexpr int kSteps = 3;

class TrainerReference : public testing::TestWithParam<ReferenceRun> {
 protected:
  TrainerReference()
      : trainer_{reference_config(GetParam().impl, Pass::kTrainStep, GetParam().precision),
                 model_impls().at(GetParam().impl), GetParam().dtype} {
    load_initial_values(trainer_.parameters());
  }

  [[nodiscard]] at::Tensor expected(const std::string& name) const {
    return reference_tensor(GetParam().label + "/" + name);
  }

  Trainer trainer_;
  at::Tensor tokens_{reference_tensor("tokens")};
  at::Tensor targets_{reference_tensor("targets")};
};

TEST_P(TrainerReference, Logits) {
  const at::NoGradGuard no_grad;
  EXPECT_LT(relative_error(trainer_.logits(tokens_), expected("logits")), GetParam().error);
}

TEST_P(TrainerReference, LossAndEveryGradient) {
  const at::Tensor loss = trainer_.loss(tokens_, targets_);
  trainer_.backward(loss);
  EXPECT_LT(relative_error(loss, expected("loss")), GetParam().error);
  for (std::size_t i = 0; i < trainer_.parameters().named().size(); ++i) {
    const std::string& name = trainer_.parameters().named()[i].name;
    EXPECT_LT(relative_error(trainer_.parameters().gradient(i), expected("grad/" + name)), GetParam().error) << name;
  }
}

TEST_P(TrainerReference, EveryParameterAfterThreeSteps) {
  for (int step = 0; step < kSteps; ++step) {
    trainer_.parameters().clear_gradients();
    trainer_.backward(trainer_.loss(tokens_, targets_));
    trainer_.optimize();
  }
  for (const auto& parameter : trainer_.parameters().named()) {
    const at::Tensor initial = reference_tensor("initial/" + parameter.name).to(at::kDouble);
    const at::Tensor after = expected("after/" + parameter.name).to(at::kDouble);
    const at::Tensor actual = parameter.value.to(at::kDouble);
    EXPECT_LT(relative_error(actual.sub(initial), after.sub(initial)), GetParam().update_error) << parameter.name;
    // If a gradient is near zero, its sign decides whether the update is plus or minus the learning rate.
    EXPECT_LE(actual.sub(after).abs().max().item<double>(), 2.01 * kSteps * kLearningRate) << parameter.name;
  }
}

std::vector<ReferenceRun> reference_runs() {
  std::vector<ReferenceRun> runs;
  for (const auto* impl : {"eager", "sdpa"}) {
    // The fused AdamW computes 1 - beta2 in the parameters' dtype. In bfloat16, gradients have errors of a few per
    // cent, which change some signs.
    runs.push_back({impl, "float64", Precision::kFp32, at::kDouble, 1e-13, 1e-9});
    runs.push_back({impl, "fp32", Precision::kFp32, at::kFloat, 4e-6, 1e-3});
    runs.push_back({impl, "bf16", Precision::kBf16, at::kFloat, 4e-2, 0.25});
  }
  return runs;
}

INSTANTIATE_TEST_SUITE_P(All, TrainerReference, testing::ValuesIn(reference_runs()),
                         [](const auto& run) { return fmt::format("{}_{}", run.param.impl, run.param.label); });

TEST(Trainer, TargetsAreTheTokensShiftedByOneAndDependOnTheSeed) {
  auto config = reference_config("eager", Pass::kForward, Precision::kFp32);
  const Trainer a{config, model_impls().at("eager")};
  const Trainer same{config, model_impls().at("sdpa")};
  config.seed = 2;
  const Trainer other{config, model_impls().at("eager")};
  const auto context = config.context;
  EXPECT_TRUE(a.tokens().narrow(1, 1, context - 1).equal(a.targets().narrow(1, 0, context - 1)));
  EXPECT_TRUE(a.tokens().equal(same.tokens()));
  EXPECT_FALSE(a.tokens().equal(other.tokens()));
  EXPECT_GE(a.tokens().min().item<std::int64_t>(), 0);
  EXPECT_LT(a.tokens().max().item<std::int64_t>(), config.size.vocab_size);
}

TEST(Trainer, PartsOfABatchAreDifferentSequencesOfOne) {
  auto config = reference_config("eager", Pass::kForward, Precision::kFp32);
  const Trainer alone{config, model_impls().at("eager")};
  EXPECT_TRUE(alone.tokens().equal(alone.whole_batch(config.seed).narrow(1, 0, config.context)));
  config.part = {.index = 1, .count = 2};
  const Trainer second{config, model_impls().at("eager")};
  const at::Tensor whole = second.whole_batch(config.seed);
  EXPECT_EQ(whole.size(0), 2 * config.batch);
  EXPECT_TRUE(second.tokens().equal(whole.narrow(0, config.batch, config.batch).narrow(1, 0, config.context)));
  EXPECT_TRUE(second.targets().equal(whole.narrow(0, config.batch, config.batch).narrow(1, 1, config.context)));
  EXPECT_FALSE(second.tokens().equal(whole.narrow(0, 0, config.batch).narrow(1, 0, config.context)));
}

/// Calls a function at the end of every phase.
class NotingMarker final : public PhaseMarker {
 public:
  explicit NotingMarker(std::function<void()> note) : note_{std::move(note)} {}
  void mark() override { note_(); }

 private:
  std::function<void()> note_;
};

TEST(Trainer, PhasesEndInOrderAsFarAsThePassGoes) {
  struct Expected {
    Pass pass;
    std::vector<bool> has_gradients;  // at the end of each phase
    std::vector<bool> has_changed;    // whether the parameters have changed, at the end of each phase
  };
  const std::vector<Expected> table{{Pass::kForward, {false}, {false}},
                                    {Pass::kForwardBackward, {false, true}, {false, false}},
                                    {Pass::kTrainStep, {false, true, true}, {false, false, true}}};
  for (const auto& row : table) {
    Trainer trainer{reference_config("eager", row.pass, Precision::kFp32), model_impls().at("eager")};
    const at::Tensor before = trainer.parameters().named().front().value.clone();
    std::vector<bool> has_gradients, has_changed;
    NotingMarker marker{[&] {
      has_gradients.push_back(trainer.parameters().gradient(0).defined());
      has_changed.push_back(!before.equal(trainer.parameters().named().front().value));
    }};
    trainer.step(&marker);
    EXPECT_EQ(has_gradients, row.has_gradients);
    EXPECT_EQ(has_changed, row.has_changed);
  }
}

TEST(Trainer, AStepHandsOverWhatItComputes) {
  for (const Pass pass : {Pass::kForward, Pass::kForwardBackward}) {
    Trainer trainer{reference_config("sdpa", pass, Precision::kFp32), model_impls().at("sdpa")};
    StepOutputs outputs;
    trainer.step(nullptr, &outputs);
    EXPECT_TRUE(outputs.logits.equal(trainer.logits(trainer.tokens())));
    EXPECT_FALSE(outputs.logits.requires_grad());
    ASSERT_EQ(outputs.loss.defined(), pass != Pass::kForward);
    if (pass == Pass::kForward) continue;
    EXPECT_TRUE(outputs.loss.equal(trainer.loss(trainer.tokens(), trainer.targets())));
  }
}

TEST(Trainer, GradientsDoNotAddUpOverSteps) {
  Trainer trainer{reference_config("sdpa", Pass::kForwardBackward, Precision::kFp32), model_impls().at("sdpa")};
  trainer.step({});
  const at::Tensor once = trainer.parameters().gradient(3).clone();
  trainer.step({});
  EXPECT_TRUE(once.equal(trainer.parameters().gradient(3)));
}

}  // namespace
}  // namespace tbench::model
