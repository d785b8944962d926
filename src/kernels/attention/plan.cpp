#include "kernels/attention/plan.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/heuristics/sm80_bwd.hpp"
#include "kernels/attention/heuristics/sm80_fwd.hpp"
#include "kernels/attention/heuristics/sm90_bwd.hpp"
#include "kernels/attention/heuristics/sm90_fwd.hpp"
#include "kernels/attention/heuristics/sm90_tf32.hpp"
#include "kernels/attention/sm80/gqa/ungroup.hpp"

namespace tbench::kernels {
namespace {

constexpr RuleName kNoTma{.table = "sm90[layout]",
                          .number = 1,
                          .condition = "TMA needs addresses and strides that are multiples of 16 bytes"};

/// Finds the first path that supports the problem, and the rules that decided.
template <class Pass>
struct Search {
  std::optional<Pass> pass;
  std::vector<RuleName> rules;

  /// Takes the path's plan, unless an earlier path has already supplied a plan.
  /// @param supports_layout  called with the plan; returns whether its kernels support the problem's layout
  template <class Plan, class SupportsLayout>
  void offer(const Selection<Plan>& selection, const SupportsLayout& supports_layout) {
    if (pass || !selection.rule) return;
    rules.push_back(*selection.rule);
    if (!selection.plan) return;
    if (supports_layout(*selection.plan)) {
      pass = *selection.plan;
    } else {
      rules.back() = kNoTma;
    }
  }
};

bool has_sm90_kernels(const DeviceLimits& limits) { return runs_sm90a(limits, built_architectures()); }

void require_layout(const char* name, const TensorLayout& layout) {
  if (layout.alignment > 0) return;
  throw std::invalid_argument{std::string{"attention: the problem has no layout of "} + name +
                              "; set AttentionProblem::layout, e.g. to layout_of() of the arguments"};
}

void check(const AttentionProblem& problem, const DeviceLimits& limits) {
  if (const auto reason = attention_unsupported_reason(problem, limits)) {
    throw std::invalid_argument{"attention: " + *reason};
  }
  const AttentionLayout& layout = problem.layout;
  require_layout("q", layout.q);
  require_layout("k", layout.k);
  require_layout("v", layout.v);
  require_layout("o", layout.o);
}

constexpr auto kAnyLayout = [](const auto& /*plan*/) { return true; };

template <class Pass>
AttentionPlan make_plan(const AttentionProblem& problem, const DeviceLimits& limits, Search<Pass> search,
                        std::size_t workspace_bytes) {
  return AttentionPlan{
      std::make_shared<const AttentionPlan::State>(AttentionPlan::State{.problem = problem,
                                                                        .limits = limits,
                                                                        .pass = *std::move(search.pass),
                                                                        .rules = std::move(search.rules),
                                                                        .workspace_bytes = workspace_bytes})};
}

}  // namespace

const AttentionProblem& AttentionPlan::problem() const { return state_->problem; }

std::size_t AttentionPlan::workspace_bytes() const { return state_->workspace_bytes; }

// The workspace is as large as the largest that any path needs, so that its size does not depend on the layout.

AttentionPlan plan_attention_forward(const AttentionProblem& problem, const DeviceLimits& limits) {
  check(problem, limits);
  Search<FwdPlan> search;
  std::size_t bytes = 0;
  if (has_sm90_kernels(limits)) {
    const auto sm90 = sm90::select_forward(problem, limits);
    const auto tf32 = sm90_tf32::select_forward(problem, limits);
    search.offer(sm90, [&](const auto&) { return sm90::forward_supports_layout(problem); });
    search.offer(tf32, [&](const auto&) { return sm90_tf32::forward_supports_layout(problem); });
    if (sm90.plan) bytes = sm90::forward_workspace_bytes(*sm90.plan);
    if (tf32.plan) bytes = sm90_tf32::forward_workspace(problem.shape, *tf32.plan).bytes();
  }
  search.offer(sm80::select_forward(sm80::ungrouped(problem), limits), kAnyLayout);
  for (const bool folded : {true, false}) {
    bytes = std::max(bytes, sm80::plan_forward(sm80::ungrouped(problem, folded), limits).workspace_bytes);
  }
  return make_plan(problem, limits, std::move(search), bytes);
}

AttentionPlan plan_attention_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  check(problem, limits);
  const AttentionLayout& layout = problem.layout;
  require_layout("grad_o", layout.grad_o);
  require_layout("dq", layout.dq);
  require_layout("dk", layout.dk);
  require_layout("dv", layout.dv);
  Search<BwdPlan> search;
  std::size_t bytes = 0;
  const bool is_grouped = problem.shape.group() != 1;
  if (has_sm90_kernels(limits)) {
    const auto sm90 = sm90::select_backward(problem, limits);
    const auto tf32 = sm90_tf32::select_backward(problem, limits);
    search.offer(sm90, [&](const sm90::BwdPlan& plan) { return sm90::backward_supports_layout(problem, plan); });
    search.offer(tf32, [&](const auto&) { return sm90_tf32::backward_supports_layout(problem); });
    if (sm90.plan) bytes = sm90::backward_workspace(problem.shape, *sm90.plan).bytes();
    if (tf32.plan) bytes = sm90_tf32::backward_workspace(problem.shape).bytes();
  }
  search.offer(sm80::select_backward(sm80::ungrouped(problem), limits), kAnyLayout);
  for (const bool folded : {true, false}) {
    const std::size_t of_kernels = sm80::plan_backward(sm80::ungrouped(problem, folded), limits).workspace.bytes();
    bytes = std::max(bytes, is_grouped ? sm80::gqa_workspace(problem, of_kernels).bytes() : of_kernels);
  }
  return make_plan(problem, limits, std::move(search), bytes);
}

}  // namespace tbench::kernels
