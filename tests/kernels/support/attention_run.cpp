#include "support/attention_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "kernels/attention/common/injected_fault.hpp"

namespace tbench::kernels {
namespace {

/// Returns the first `count` values of a seed's sequence. Drawn values are kept, because most cases need the same ones.
std::vector<double> normal_values(std::size_t count, std::uint64_t seed) {
  struct Sequence {
    std::mt19937_64 engine;
    std::normal_distribution<double> normal;
    std::vector<double> values;
  };
  static std::map<std::uint64_t, Sequence> sequences;
  Sequence& sequence = sequences.try_emplace(seed, Sequence{std::mt19937_64{seed}, {}, {}}).first->second;
  sequence.values.reserve(count);
  while (sequence.values.size() < count) sequence.values.push_back(sequence.normal(sequence.engine));
  return {sequence.values.begin(), sequence.values.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// Rounds to eight significant bits.
double coarse(double value) {
  int exponent{};
  return std::ldexp(std::round(std::frexp(value, &exponent) * 256), exponent - 8);
}

/// Returns the factor for q and k. The score of two rows is scale * factor^2 * sqrt(head_dim) times a standard normal
/// number. The largest of some thousands of these is about 4, and 2500 times that is 1e4.
double large_factor(const AttentionProblem& problem) {
  const double depth = static_cast<double>(problem.shape.head_dim);
  return std::sqrt(2500 / (static_cast<double>(problem.scale) * std::sqrt(depth)));
}

/// Fills the workspace with `garbage`. If there is none, the workspace stays as it was allocated.
void poison(const DeviceBytes& workspace, std::optional<std::byte> garbage) {
  if (!garbage || workspace.size() == 0) return;
  TBENCH_CUDA_CHECK(cudaMemset(workspace.data(), std::to_integer<int>(*garbage), workspace.size()));
}

enum class Operand { kQ, kK, kV, kGradO };

DeviceTensor make_input(const AttentionCase& one, Operand operand) {
  const AttentionShape& shape = one.problem.shape;
  const bool is_query_side = operand == Operand::kQ || operand == Operand::kGradO;
  const bool is_score_side = operand == Operand::kQ || operand == Operand::kK;
  DeviceTensor tensor{{shape.batch, is_query_side ? shape.heads : shape.key_heads(),
                       is_query_side ? shape.seq_q : shape.seq_kv, shape.head_dim},
                      one.problem.precision,
                      operand == Operand::kGradO ? one.grad_layout : one.layout,
                      one.guard};
  const auto [batch, heads, seq, depth] = tensor.extents();
  const auto count = static_cast<std::size_t>(batch * heads * seq * depth);
  std::vector<double> values;
  if (one.data == Data::kEqual) {
    constexpr std::array kConstants{0.5, -0.25, 2.0, 1.0};  // q, k, v, grad_o
    values.assign(count, kConstants.at(static_cast<std::size_t>(operand)));
  } else {
    values = normal_values(count, 1 + static_cast<std::uint64_t>(operand));
  }
  if (one.data == Data::kLarge) {
    const double factor = is_score_side ? large_factor(one.problem) : 1;
    for (double& value : values) value = coarse(factor * value);
  }
  tensor.write(values);
  return tensor;
}

std::vector<double> values_of(const std::vector<Uncertain>& all) {
  std::vector<double> values;
  values.reserve(all.size());
  for (const Uncertain& one : all) values.push_back(one.value);
  return values;
}

/// Returns the launch of attention_backward().
BackwardLaunch planned_backward(const AttentionProblem& problem) {
  const AttentionPlan plan = plan_attention_backward(problem, current_device_limits());
  const auto enqueue = [plan](const AttentionProblem& /*problem*/, const AttentionBackward& arguments,
                              cudaStream_t stream) { attention_backward(plan, arguments, stream); };
  return {enqueue, plan.workspace_bytes()};
}

}  // namespace

AttentionProblem attention_problem(const AttentionShape& shape, Precision precision) {
  return {.shape = shape,
          .precision = precision,
          .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(shape.head_dim)))};
}

std::string describe(const AttentionCase& one) {
  const AttentionShape& shape = one.problem.shape;
  return fmt::format("batch {}, heads {}:{}, {} x {}, head_dim {}, {}, {}, {}, gradient {}", shape.batch, shape.heads,
                     shape.key_heads(), shape.seq_q, shape.seq_kv, shape.head_dim,
                     shape.causal ? "causal" : "not causal", to_string(one.problem.precision), to_string(one.layout),
                     to_string(one.grad_layout));
}

AttentionRun::AttentionRun(const AttentionCase& one)
    : case_{one},
      q_{make_input(one, Operand::kQ)},
      k_{make_input(one, Operand::kK)},
      v_{make_input(one, Operand::kV)},
      grad_o_{make_input(one, Operand::kGradO)} {}

DeviceTensor AttentionRun::output(std::int64_t heads, std::int64_t seq) const {
  const AttentionShape& shape = case_.problem.shape;
  return {{shape.batch, heads, seq, shape.head_dim}, case_.problem.precision, case_.layout, case_.guard};
}

ForwardResult AttentionRun::forward_outputs() const {
  const AttentionShape& shape = case_.problem.shape;
  return {.o = output(shape.heads, shape.seq_q),
          .lse = {{shape.batch, shape.heads, shape.seq_q, 1}, Precision::kFp32, Layout::kContiguous, case_.guard}};
}

const ForwardResult& AttentionRun::reference_forward() const {
  if (!reference_forward_) {
    reference_forward_ = forward_outputs();
    reference_forward_->o.write(values_of(reference().o));
    reference_forward_->lse.write(values_of(reference().lse));
  }
  return *reference_forward_;
}

ForwardResult AttentionRun::forward(std::optional<std::byte> garbage) const {
  ForwardResult result = forward_outputs();
  AttentionForward arguments{.q = q_.view(),
                             .k = k_.view(),
                             .v = v_.view(),
                             .o = result.o.view(),
                             .lse = static_cast<float*>(result.lse.view().data)};
  AttentionProblem problem = case_.problem;
  problem.layout = layout_of(arguments);
  const AttentionPlan plan = plan_attention_forward(problem, current_device_limits());
  const DeviceBytes workspace{plan.workspace_bytes()};
  poison(workspace, garbage);
  arguments.workspace = workspace.data();
  attention_forward(plan, arguments, nullptr);
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  return result;
}

BackwardResult AttentionRun::backward(const BackwardOptions& options) const {
  const ForwardResult& forward = options.forward == nullptr ? reference_forward() : *options.forward;
  const AttentionShape& shape = case_.problem.shape;
  BackwardResult result{.dq = output(shape.heads, shape.seq_q),
                        .dk = output(shape.key_heads(), shape.seq_kv),
                        .dv = output(shape.key_heads(), shape.seq_kv)};
  AttentionBackward arguments{.q = q_.view(),
                              .k = k_.view(),
                              .v = v_.view(),
                              .o = forward.o.view(),
                              .lse = static_cast<const float*>(forward.lse.view().data),
                              .grad_o = grad_o_.view(),
                              .dq = result.dq.view(),
                              .dk = result.dk.view(),
                              .dv = result.dv.view()};
  AttentionProblem problem = case_.problem;
  problem.deterministic = options.deterministic;
  problem.layout = layout_of(arguments);
  const BackwardLaunch launch = options.launch ? *options.launch : planned_backward(problem);
  const DeviceBytes workspace{launch.workspace_bytes};
  poison(workspace, options.garbage);
  arguments.workspace = workspace.data();
  launch.enqueue(problem, arguments, nullptr);
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  return result;
}

const AttentionReference& AttentionRun::reference() const {
  if (!reference_) {
    reference_ = attention_reference(case_.problem, q_.view(), k_.view(), v_.view(), grad_o_.view(), Executor::kDevice);
  }
  return *reference_;
}

Comparison AttentionRun::check(std::string_view name, const DeviceTensor& actual,
                               const std::vector<Uncertain>& expected) const {
  Allowance allowance;
  if (case_.data == Data::kEqual) {
    // All errors of a row have the same sign and do not average out, so the limit is the round-off of an operand and an
    // input.
    const ErrorModel model = ErrorModel::of(case_.problem.precision);
    allowance.relative = 2 * (model.operand + model.input);
    allowance.root_mean_square = std::numeric_limits<double>::infinity();
  }
  Comparison comparison = compare_outputs(name, actual.extents(), actual.read(), expected, allowance);
  if (const auto gap = actual.overwritten_gap(); gap && case_.guard == Guard::kSurrounded) {
    comparison.failure += fmt::format("{}{}: {}", comparison.failure.empty() ? "" : "; ", name, *gap);
  }
  return comparison;
}

std::vector<Comparison> AttentionRun::check(const ForwardResult& result) const {
  return {check("o", result.o, reference().o), check("lse", result.lse, reference().lse)};
}

std::vector<Comparison> AttentionRun::check(const BackwardResult& result) const {
  return {check("dq", result.dq, reference().dq), check("dk", result.dk, reference().dk),
          check("dv", result.dv, reference().dv)};
}

InjectedFault& planted_fault() {
  static InjectedFault fault{InjectedFault::kNone};
  return fault;
}

}  // namespace tbench::kernels
