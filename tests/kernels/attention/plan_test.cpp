// Tests plans, and the refusals of arguments that contradict them, without a GPU.
#include "kernels/attention/plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "kernels/attention/common/device_limits.hpp"
#include "support/plan_problem.hpp"

namespace tbench::kernels {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr DeviceLimits kHopper = sm90::kH200;
constexpr DeviceLimits kA100{
    .compute_capability_major = 8, .multiprocessors = 108, .shared_bytes_per_block = 163 * 1024};

AttentionProblem problem(std::int64_t seq = 512, Precision precision = Precision::kBf16) {
  AttentionProblem one = sm90::problem_of(precision, seq, 64, 12, /*causal=*/true);
  one.layout = contiguous_layout(one.shape);
  return one;
}

/// Returns contiguous tensors at addresses that are never read.
AttentionForward forward_arguments(const AttentionProblem& one) {
  const auto view = [](const TensorLayout& layout) {
    return TensorView{reinterpret_cast<void*>(std::uintptr_t{4096}), layout.strides};
  };
  return {.q = view(one.layout.q), .k = view(one.layout.k), .v = view(one.layout.v), .o = view(one.layout.o)};
}
AttentionBackward backward_arguments(const AttentionProblem& one) {
  const AttentionForward forward = forward_arguments(one);
  return {.q = forward.q,
          .k = forward.k,
          .v = forward.v,
          .o = forward.o,
          .grad_o = forward.o,
          .dq = forward.q,
          .dk = forward.k,
          .dv = forward.v};
}

template <class Path, class Pass>
bool runs(const AttentionPlan& plan) {
  const auto* const pass = std::get_if<Pass>(&plan.state().pass);
  return pass != nullptr && std::holds_alternative<Path>(*pass);
}
bool runs_sm80_forward(const AttentionPlan& plan) { return runs<sm80::FwdPlan, FwdPlan>(plan); }

bool has_hopper_code() { return runs_sm90a(kHopper, built_architectures()); }

TEST(PlanAttention, NeedsTheSameWorkspaceForGroupedQueriesInEveryLayout) {
  for (const DeviceLimits& limits : {kHopper, kA100}) {
    for (const std::int64_t seq : {100, 300, 1500}) {
      AttentionProblem one = problem(seq);
      one.shape.heads = 8;
      one.shape.kv_heads = 2;
      one.layout = contiguous_layout(one.shape);
      AttentionProblem interleaved = one;  // [batch, seq, heads, head_dim]
      for (auto [tensor, heads] : {std::pair{&interleaved.layout.q, 8}, {&interleaved.layout.k, 2}}) {
        tensor->strides = {seq * heads * 64, 64, heads * 64};
      }
      EXPECT_EQ(plan_attention_forward(one, limits).workspace_bytes(),
                plan_attention_forward(interleaved, limits).workspace_bytes());
      EXPECT_EQ(plan_attention_backward(one, limits).workspace_bytes(),
                plan_attention_backward(interleaved, limits).workspace_bytes());
    }
  }
}

TEST(PlanAttention, TakesThePathOfTheGpuAndThePrecision) {
  if (!has_hopper_code()) GTEST_SKIP() << "a build without Hopper's kernels";
  EXPECT_TRUE((runs<sm90::FwdPlan, FwdPlan>(plan_attention_forward(problem(), kHopper))));
  EXPECT_TRUE((runs<sm90::BwdPlan, BwdPlan>(plan_attention_backward(problem(), kHopper))));
  const AttentionProblem tf32 = problem(512, Precision::kTf32);
  EXPECT_TRUE((runs<sm90_tf32::FwdPlan, FwdPlan>(plan_attention_forward(tf32, kHopper))));
  EXPECT_TRUE((runs<sm90_tf32::BwdPlan, BwdPlan>(plan_attention_backward(tf32, kHopper))));
  EXPECT_TRUE(runs_sm80_forward(plan_attention_forward(problem(512, Precision::kFp32), kHopper)));
  EXPECT_TRUE(runs_sm80_forward(plan_attention_forward(problem(), kA100)));
  EXPECT_TRUE((runs<sm80::BwdPlan, BwdPlan>(plan_attention_backward(problem(), kA100))));
}

TEST(PlanAttention, TakesSm80WhereTmaCannotReadAndSaysWhy) {
  if (!has_hopper_code()) GTEST_SKIP() << "a build without Hopper's kernels";
  AttentionProblem one = problem();
  one.layout.k.alignment = 8;
  const AttentionPlan plan = plan_attention_forward(one, kHopper);
  EXPECT_TRUE(runs_sm80_forward(plan));
  ASSERT_EQ(plan.state().rules.size(), 2U);
  EXPECT_EQ(to_string(plan.state().rules[0]),
            "sm90[layout] #1: TMA needs addresses and strides that are multiples of 16 bytes");
  EXPECT_EQ(plan.workspace_bytes(), plan_attention_forward(problem(), kHopper).workspace_bytes())
      << "a workspace does not depend on the layout";
}

TEST(PlanAttention, RefusesAProblemWithoutALayout) {
  AttentionProblem one = problem();
  one.layout.grad_o = {};
  EXPECT_NO_THROW(static_cast<void>(plan_attention_forward(one, kA100)));
  EXPECT_THAT(
      [&] { static_cast<void>(plan_attention_backward(one, kA100)); },
      ThrowsMessage<std::invalid_argument>(
          "attention: the problem has no layout of grad_o; set AttentionProblem::layout, e.g. to layout_of() of "
          "the arguments"));
  one.layout.q = {};
  EXPECT_THAT([&] { static_cast<void>(plan_attention_forward(one, kA100)); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("no layout of q")));
}

TEST(PlanAttention, RefusesWhatTheKernelsDoNotCompute) {
  AttentionProblem one = problem();
  one.shape.head_dim = 72;
  EXPECT_THAT([&] { static_cast<void>(plan_attention_forward(one, kA100)); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("attention: head_dim 72 has no kernel in bf16")));
}

TEST(AttentionForward, RefusesStridesOfAnotherPlanAndNamesBoth) {
  const AttentionPlan plan = plan_attention_forward(problem(), kA100);
  AttentionForward arguments = forward_arguments(problem());
  arguments.q.strides = {1536, 64, 36864};
  EXPECT_THAT(
      [&] { attention_forward(plan, arguments, nullptr); },
      ThrowsMessage<std::invalid_argument>(
          "attention_forward: q has strides {1536, 64, 36864}, the plan was made for {393216, 32768, 64}; make a "
          "new plan"));
}

TEST(AttentionForward, RefusesAnAddressThatIsLessAlignedThanPlanned) {
  const AttentionPlan plan = plan_attention_forward(problem(), kA100);
  AttentionForward arguments = forward_arguments(problem());
  arguments.v.data = reinterpret_cast<void*>(std::uintptr_t{4096 + 8});
  EXPECT_THAT([&] { attention_forward(plan, arguments, nullptr); },
              ThrowsMessage<std::invalid_argument>(
                  "attention_forward: v is aligned to 8 bytes, the plan was made for 16; make a new plan"));
}

TEST(AttentionBackward, ChecksEveryTensor) {
  const AttentionPlan plan = plan_attention_backward(problem(), kA100);
  for (const auto& [name, member] : {std::pair{"q", &AttentionBackward::q},
                                     {"k", &AttentionBackward::k},
                                     {"v", &AttentionBackward::v},
                                     {"o", &AttentionBackward::o},
                                     {"grad_o", &AttentionBackward::grad_o},
                                     {"dq", &AttentionBackward::dq},
                                     {"dk", &AttentionBackward::dk},
                                     {"dv", &AttentionBackward::dv}}) {
    AttentionBackward arguments = backward_arguments(problem());
    (arguments.*member).strides = {0, 0, 0};
    EXPECT_THAT([&] { attention_backward(plan, arguments, nullptr); },
                ThrowsMessage<std::invalid_argument>(
                    HasSubstr(fmt::format("attention_backward: {} has strides {{0, 0, 0}}", name))));
  }
}

TEST(AttentionBackward, NamesTheWorkspaceThatIsMissing) {
  const AttentionPlan plan = plan_attention_backward(problem(), kA100);
  EXPECT_THAT([&] { attention_backward(plan, backward_arguments(problem()), nullptr); },
              ThrowsMessage<std::invalid_argument>(
                  fmt::format("attention_backward: workspace is null: the plan needs {} bytes, "
                              "AttentionPlan::workspace_bytes()",
                              plan.workspace_bytes())));
}

TEST(AttentionBackward, RefusesAPlanOfTheForwardPass) {
  const AttentionPlan plan = plan_attention_forward(problem(), kA100);
  EXPECT_THAT([&] { attention_backward(plan, backward_arguments(problem()), nullptr); },
              ThrowsMessage<std::invalid_argument>(
                  "attention_backward: the plan is of the other pass; make one with plan_attention_backward()"));
}

TEST(LayoutOf, IsTheGreatestAlignmentUpTo16) {
  AttentionForward arguments = forward_arguments(problem());
  for (const auto& [address, alignment] : {std::pair{4096, 16}, {4112, 16}, {4104, 8}, {4098, 2}, {4097, 1}}) {
    arguments.q.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
    EXPECT_EQ(layout_of(arguments).q.alignment, alignment) << address;
  }
}

TEST(ContiguousLayout, IsThatOfContiguousTensors) {
  AttentionProblem one = problem();
  one.shape.seq_kv = 100;
  const AttentionLayout layout = contiguous_layout(one.shape);
  EXPECT_EQ(layout.q, (TensorLayout{.strides = {393216, 32768, 64}, .alignment = 16}));
  EXPECT_EQ(layout.dv, (TensorLayout{.strides = {76800, 6400, 64}, .alignment = 16}));
}

}  // namespace
}  // namespace tbench::kernels
