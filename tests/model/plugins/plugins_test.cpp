// Tests how implementations join the registries, and that the output checker accuses no honest one. Plug-in libraries
// are tested with the program: tests/bench/plugins.
#include "tbench/model/plugins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/attention/implementation.hpp"
#include "model/attention/runner.hpp"
#include "model/operations/gemm/implementation.hpp"
#include "model/operations/kernels/implementation.hpp"
#include "tbench/core/error.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string refusal(const Plugin& plugin) {
  try {
    add_plugin(plugin);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Plugins, JoinWhatTheyDescribeUnderTheirName) {
  const Plugin plugin{
      .path = "/libjoined.so", .name = "joined", .digest = "00", .parts = {"Attention", "Kernel/op:add"}};
  ASSERT_EQ(refusal(plugin), "");
  EXPECT_THAT(attention_impl_names(), Contains("joined"));
  EXPECT_THAT(kernel_variants("add").impls, Contains("joined"));
  EXPECT_THAT(kernel_variants("softmax").impls, Not(Contains("joined")));
  EXPECT_THAT(gemm_impl_names(), Not(Contains("joined")));
  EXPECT_EQ(find_plugin("joined")->path, "/libjoined.so");
  EXPECT_EQ(find_plugin("aten"), nullptr);
  EXPECT_THAT(refusal(plugin), HasSubstr("its name 'joined' is that of /libjoined.so too: give it another name"));
}

TEST(Plugins, NoNameOfAnyFamilyIsTakenTwice) {
  for (const char* name : {"flash", "aten", "cublaslt_best", "fused"}) {
    EXPECT_THAT(refusal({.path = "/lib.so", .name = name, .digest = "", .parts = {"Gemm"}}),
                HasSubstr("is that of a built-in implementation"));
  }
}

constexpr int kWatchedLaunches = 5;

/// Launches as the timer does, after the launches for building and verifying.
Verification watched_launches(Case& subject) {
  LaunchChecker& checker = *subject.launch_checker();
  checker.begin();
  for (int i = 0; i < kWatchedLaunches; ++i) {
    checker.redraw();
    checker.perturb();
    launch(subject);
    checker.after();
  }
  return checker.verdict();
}

constexpr int kRuns = 100;

/// Builds, verifies, checks a timed launch and verifies again, with other seeds in each of kRuns runs.
/// @return  the number of runs in which a check failed
template <class Make>
int accused(const Make& make) {
  int count = 0;
  for (int seed = 1; seed <= kRuns; ++seed) {
    const std::unique_ptr<Case> subject = make(static_cast<std::uint64_t>(2 * seed));
    subject->build();
    const bool passed =
        subject->verify().passed && watched_launches(*subject).passed && subject->verify_again().value().passed;
    count += passed ? 0 : 1;
  }
  return count;
}

TEST(Plugins, WatchingAccusesNoHonestProduct) {
  const OneThread one;
  GemmImpl watched = aten_gemm_impl();
  watched.name = "watched_gemm";
  watched.is_watched = true;
  gemm_impls().add(watched);
  for (const GemmPrecision precision : {GemmPrecision::kFp32, GemmPrecision::kBf16}) {
    EXPECT_EQ(accused([&](std::uint64_t seed) {
                return make_gemm_case({.m = 37,
                                       .n = 53,
                                       .k = 29,
                                       .precision = precision,
                                       .impl = "watched_gemm",
                                       .device = DeviceKind::kCpu,
                                       .seed = seed});
              }),
              0);
  }
}

TEST(Plugins, WatchingAccusesNoHonestAttention) {
  const OneThread one;
  AttentionImpl watched = attention_impls().at("naive");
  watched.name = "watched_attention";
  watched.is_watched = true;
  attention_impls().add(watched);
  for (const AttentionPass pass :
       {AttentionPass::kForward, AttentionPass::kBackward, AttentionPass::kForwardBackward}) {
    const auto make = [&](std::uint64_t seed) {
      return make_attention_case(
          {.shape = {.batch = 2, .heads = 2, .seq_q = 24, .seq_kv = 24, .head_dim = 16, .causal = true},
           .pass = pass,
           .precision = Precision::kFp32,
           .impl = "watched_attention",
           .deterministic = false,
           .device = DeviceKind::kCpu,
           .seed = seed});
    };
    int count = 0;
    for (int seed = 1; seed <= kRuns; ++seed) {
      const std::unique_ptr<Case> subject = make(static_cast<std::uint64_t>(2 * seed));
      subject->build();
      count += subject->verify().passed && watched_launches(*subject).passed && subject->verify_again().value().passed
                   ? 0
                   : 1;
    }
    EXPECT_EQ(count, 0);
  }
}

/// Computes as `naive` does, but every fifth time one of its results is a copy of the previous one.
struct Recalling {
  static constexpr int kEvery = 5;
  static inline AttentionOutput output{};
  static inline int calls{};
  static inline at::Tensor memory{};

  static void recall(AttentionOutput which, const at::Tensor& result) {
    if (which != output) return;
    if (++calls % kEvery == 0) {
      result.detach().copy_(memory);
    } else {
      memory = result.detach().clone();
    }
  }
  static AttentionState forward(const AttentionOperands& operands, bool for_backward) {
    AttentionState state = attention_impls().at("naive").forward(operands, for_backward);
    recall(kO, state.output);
    return state;
  }
  static AttentionGradients backward(const AttentionOperands& operands, const AttentionState& state, bool keep_state) {
    AttentionGradients gradients = attention_impls().at("naive").backward(operands, state, keep_state);
    recall(kDq, gradients.dq);
    recall(kDk, gradients.dk);
    recall(kDv, gradients.dv);
    return gradients;
  }
};

TEST(Plugins, WatchingSeesEveryRecalledResultOfAttention) {
  const OneThread one;
  AttentionImpl recalling = attention_impls().at("naive");
  recalling.name = "recalling_attention";
  recalling.is_watched = true;
  recalling.forward = &Recalling::forward;
  recalling.backward = &Recalling::backward;
  attention_impls().add(recalling);
  for (const AttentionOutput output : {kO, kDq, kDk, kDv}) {
    const std::unique_ptr<Case> subject = make_attention_case(
        {.shape = {.batch = 2, .heads = 2, .seq_q = 24, .seq_kv = 24, .head_dim = 16, .causal = true},
         .pass = AttentionPass::kForwardBackward,
         .precision = Precision::kFp32,
         .impl = "recalling_attention",
         .deterministic = false,
         .device = DeviceKind::kCpu,
         .seed = 1});
    Recalling::output = output;
    subject->build();
    Recalling::calls = 0;
    EXPECT_FALSE(watched_launches(*subject).passed) << output;
  }
}

TEST(Plugins, WatchingAccusesNoHonestKernel) {
  const OneThread one;
  KernelOp& op = *kernel_ops().find("softmax");
  KernelImpl watched = *op.impls.find("aten");
  watched.name = "watched_kernel";
  watched.is_watched = true;
  op.impls.add(watched);
  for (const KernelPass pass : {KernelPass::kForward, KernelPass::kBackward}) {
    EXPECT_EQ(accused([&](std::uint64_t seed) {
                return make_kernel_case(
                    {.op = "softmax",
                     .size = {.name = "tiny", .d_model = 64, .d_ff = 256, .num_layers = 1, .num_heads = 4},
                     .context = 32,
                     .batch = 2,
                     .pass = pass,
                     .precision = Precision::kFp32,
                     .impl = "watched_kernel",
                     .device = DeviceKind::kCpu,
                     .seed = seed});
              }),
              0);
  }
}

}  // namespace
}  // namespace tbench::model
