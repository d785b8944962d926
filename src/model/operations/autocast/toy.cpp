// The course's toy model under autocast.
#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "model/operations/autocast/subjects.hpp"
#include "model/operations/operation_case.hpp"
#include "model/torch/compare.hpp"
#include "model/torch/dtype_observer.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kToyRows = 32, kToyInputs = 20, kToyHidden = 10, kToyClasses = 5;

constexpr std::array kToyRoles{OperationRole{"", "aten::linear", 1, "fc1"}, OperationRole{"", "aten::relu", 0, "relu"},
                               OperationRole{"", "aten::layer_norm", 0, "layer norm"},
                               OperationRole{"", "aten::linear", 2, "logits"},
                               OperationRole{"", "aten::cross_entropy_loss", 0, "loss"}};

// How far rounding moves a result, in unit round-offs of the 16-bit format: for an element, relative to its tensor's
// rms, and for the norm. Each number is four times the largest value over 1,000 seeds and both formats on a CPU, which
// computes layer norm in 16 bits (a GPU in float32). The gradient of layer norm's bias is a sum over rows that nearly
// cancels.
struct ToyRoundings {
  const char* name;
  double element;
  double norm;
};
constexpr ToyRoundings kToyLogits{.name = "logits", .element = 20, .norm = 4};
constexpr ToyRoundings kToyLoss{.name = "loss", .element = 1, .norm = 1};
constexpr std::array kToyGradients{ToyRoundings{"fc1.grad", 70, 8}, ToyRoundings{"ln.weight.grad", 57, 19},
                                   ToyRoundings{"ln.bias.grad", 176, 61}, ToyRoundings{"fc2.grad", 23, 6}};

/// The results of a pass. The gradients are in the parameters.
struct ToyResults {
  at::Tensor logits, loss;
};

class ToyAutocast final : public OperationCase {
 public:
  explicit ToyAutocast(const AutocastConfig& config) : OperationCase{config.device}, config_{config} {}

  std::optional<std::string> unsupported_reason() const override { return autocast_unsupported_reason(config_); }
  /// Counts the products alone: 2 * rows * weights for forward, and twice that for backward, less the gradient of x,
  /// which is not needed.
  Work work() const override {
    constexpr std::int64_t kFirst = kToyInputs * kToyHidden, kSecond = kToyHidden * kToyClasses;
    return {
        .flop = {2.0 * static_cast<double>(kToyRows * (2 * kFirst + 3 * kSecond))},
        .tokens = 0,
        .bytes = 0,
    };
  }
  std::map<std::string, std::string> labels() override { return labels_; }

 private:
  void do_build() override;
  void enqueue() override { pass(config_.precision); }
  Verification do_verify() override;
  [[nodiscard]] ToyResults forward(Precision precision) const;
  ToyResults pass(Precision precision);
  void observe();
  void clear_gradients();

  AutocastConfig config_;
  at::Tensor x_;                          // [rows, inputs]
  at::Tensor targets_;                    // [rows] int64
  std::array<at::Tensor, 4> parameters_;  // fc1 [hidden, inputs], ln weight and bias [hidden], fc2 [classes, hidden]
  std::map<std::string, std::string> labels_;
};

/// Draws the inputs and the weights of the products as float32 numbers that bfloat16 represents exactly, so that
/// autocast to bfloat16 does not round them. Otherwise, their rounding errors could change outputs of fc1 near ReLU's
/// zero by many times their size, and layer norm would enlarge these errors when it divides by the spread of a row.
void ToyAutocast::do_build() {
  const c10::Device device = torch_device(config_.device);
  const auto normal = [&](at::IntArrayRef shape, double deviation, std::uint64_t index) {
    return seeded_normal(shape, at::kFloat, config_.device, config_.seed, index)
        .mul_(deviation)
        .to(at::kBFloat16)
        .to(at::kFloat);
  };
  x_ = normal({kToyRows, kToyInputs}, 1.0, 0);
  at::Generator generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(config_.seed);
  targets_ = at::randint(kToyClasses, {kToyRows}, generator, at::TensorOptions{}.device(device).dtype(at::kLong));
  parameters_ = {normal({kToyHidden, kToyInputs}, 1.0 / std::sqrt(double{kToyInputs}), 1),
                 at::ones({kToyHidden}, x_.options()), at::zeros({kToyHidden}, x_.options()),
                 normal({kToyClasses, kToyHidden}, 1.0 / std::sqrt(double{kToyHidden}), 2)};
  for (at::Tensor& parameter : parameters_) parameter.requires_grad_(true);
}

ToyResults ToyAutocast::forward(Precision precision) const {
  const AutocastScope autocast{precision, x_.device().type()};
  const auto& [fc1, ln_weight, ln_bias, fc2] = parameters_;
  const at::Tensor hidden = at::layer_norm(at::relu(at::linear(x_, fc1)), {kToyHidden}, ln_weight, ln_bias);
  ToyResults results;
  results.logits = at::linear(hidden, fc2);
  results.loss = at::cross_entropy_loss(results.logits, targets_);
  return results;
}

ToyResults ToyAutocast::pass(Precision precision) {
  const Tf32Scope no_tf32{Precision::kFp32};
  const BackwardOnThisThread here;
  clear_gradients();
  ToyResults results = forward(precision);
  results.loss.backward();
  return results;
}

void ToyAutocast::clear_gradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

/// Runs one pass and labels the case with the dtypes of its operations.
void ToyAutocast::observe() {
  const Tf32Scope no_tf32{Precision::kFp32};
  const BackwardOnThisThread here;
  clear_gradients();
  at::Tensor loss;
  {
    const DtypeObserver observer;
    loss = forward(config_.precision).loss;
    labels_ = dtypes_by_role(observer.operations(), kToyRoles);
  }
  const DtypeObserver observer;
  loss.backward();
  labels_.merge(dtypes_by_role(observer.operations(), kBackwardRoles));
}

Verification ToyAutocast::do_verify() {
  std::array<at::Tensor, 4> expected;
  const ToyResults reference = pass(Precision::kFp32);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = parameters_[i].grad();
  observe();
  {  // Fills the memory that the allocator reuses with NaN, which shows if the next pass leaves an output unwritten.
    ToyResults stale = pass(config_.precision);
    const at::NoGradGuard no_grad;
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    stale.logits.detach().fill_(kNaN);
    stale.loss.detach().fill_(kNaN);
    for (const at::Tensor& parameter : parameters_) parameter.grad().fill_(kNaN);
  }
  const ToyResults results = pass(config_.precision);
  labels_["parameters"] = dtypes_of_tensors(parameters_);
  labels_["gradients"] = dtypes_of_gradients(parameters_);
  const double unit = unit_roundoff(config_.precision);
  Comparison comparison;
  const auto compare = [&](const ToyRoundings& roundings, const at::Tensor& actual, const at::Tensor& wanted) {
    comparison.add(
        roundings.name, actual, wanted,
        {.relative = 0.0, .of_rms = roundings.element * unit, .absolute = 0.0, .of_norm = roundings.norm * unit});
  };
  compare(kToyLogits, results.logits, reference.logits);
  compare(kToyLoss, results.loss, reference.loss);
  for (std::size_t i = 0; i < expected.size(); ++i) compare(kToyGradients[i], parameters_[i].grad(), expected[i]);
  const Verification verdict = comparison.finish("float32 without autocast and without TF32, the same weights");
  clear_gradients();
  return verdict;
}

}  // namespace

std::unique_ptr<Case> make_toy_autocast(const AutocastConfig& config) { return std::make_unique<ToyAutocast>(config); }

}  // namespace tbench::model
