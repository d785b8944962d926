// Tests refusals and workspaces, which are decided without a GPU.
#include "tbench/kernels/attention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/attention/common/device_limits.hpp"
#include "support/attention_run.hpp"
#include "support/kernel_grid.hpp"

namespace tbench::kernels {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

constexpr DeviceLimits kHopper{
    .compute_capability_major = 9, .multiprocessors = 132, .shared_bytes_per_block = 227 * 1024};

AttentionProblem problem_of(std::int64_t head_dim, Precision precision) {
  return attention_problem({.batch = 2, .heads = 3, .seq_q = 129, .seq_kv = 129, .head_dim = head_dim, .causal = true},
                           precision);
}

/// Returns the bytes of the workspace for contiguous tensors.
std::size_t forward_bytes(AttentionProblem problem, const DeviceLimits& limits) {
  problem.layout = contiguous_layout(problem.shape);
  return plan_attention_forward(problem, limits).workspace_bytes();
}
std::size_t backward_bytes(AttentionProblem problem, const DeviceLimits& limits) {
  problem.layout = contiguous_layout(problem.shape);
  return plan_attention_backward(problem, limits).workspace_bytes();
}

std::optional<std::string> refusal(const AttentionProblem& problem) {
  return attention_unsupported_reason(problem, kHopper);
}

TEST(AttentionUnsupportedReason, IsNothingForTheGrid) {
  for (const auto& [precision, head_dim] : kernel_grid()) {
    EXPECT_EQ(refusal(problem_of(head_dim, precision)), std::nullopt) << to_string(precision) << " " << head_dim;
  }
}

TEST(AttentionUnsupportedReason, NamesTheHeadDimAndThoseThatExist) {
  for (const std::int64_t head_dim : {0, 8, 17, 72, 160, 512}) {
    for (const Precision precision : kAllOf<Precision>) {
      EXPECT_THAT(refusal(problem_of(head_dim, precision)), Optional(HasSubstr(fmt::format("head_dim {} ", head_dim))));
    }
  }
  EXPECT_THAT(refusal(problem_of(512, Precision::kBf16)), Optional(HasSubstr("16, 32, 64, 80, 96, 128, 256")));
}

TEST(AttentionUnsupportedReason, HeadDim256IsForSixteenBitTypes) {
  EXPECT_EQ(refusal(problem_of(256, Precision::kFp16)), std::nullopt);
  EXPECT_THAT(refusal(problem_of(256, Precision::kFp32)), Optional(HasSubstr("head_dim 256 has no kernel in fp32")));
  EXPECT_THAT(refusal(problem_of(256, Precision::kTf32)), Optional(HasSubstr("head_dim 256 has no kernel in tf32")));
}

TEST(AttentionUnsupportedReason, TakesSharedHeadsThatDivideTheHeads) {
  AttentionProblem problem = problem_of(64, Precision::kBf16);
  problem.shape.heads = 8;
  for (const std::int64_t kv_heads : {1, 2, 4, 8}) {
    problem.shape.kv_heads = kv_heads;
    EXPECT_EQ(refusal(problem), std::nullopt) << kv_heads;
  }
  problem.shape.kv_heads = 3;
  EXPECT_THAT(refusal(problem), Optional(HasSubstr("3 heads of k and v do not divide 8 heads")));
  problem.shape = {.batch = 65536 / 4, .heads = 8, .seq_q = 8, .seq_kv = 8, .head_dim = 64, .kv_heads = 4};
  EXPECT_THAT(refusal(problem), Optional(HasSubstr("batch x kv_heads is 65536: the kernels take 1 to 65535")));
}

TEST(AttentionUnsupportedReason, NamesAnOldGpu) {
  DeviceLimits turing = kHopper;
  turing.compute_capability_major = 7;
  turing.compute_capability_minor = 5;
  EXPECT_THAT(attention_unsupported_reason(problem_of(64, Precision::kBf16), turing),
              Optional(HasSubstr("need compute capability 8.0, the GPU has 7.5")));
  DeviceLimits ampere = kHopper;
  ampere.compute_capability_major = 8;
  EXPECT_EQ(attention_unsupported_reason(problem_of(64, Precision::kBf16), ampere), std::nullopt);
}

DeviceLimits of_capability(int major, int minor) {
  DeviceLimits limits = kHopper;
  limits.compute_capability_major = major;
  limits.compute_capability_minor = minor;
  return limits;
}

TEST(AttentionUnsupportedReason, IsOfTheBuildsOwnCode) {
  // If the build has PTX, it runs on all later GPUs.
  const bool has_ptx = built_architectures().find("+PTX") != std::string_view::npos;
  EXPECT_EQ(attention_unsupported_reason(problem_of(64, Precision::kBf16), of_capability(99, 1)).has_value(), !has_ptx);
}

TEST(MissingCodeReason, NamesTheGpuTheBuildAndTheRemedy) {
  EXPECT_THAT(
      missing_code_reason(of_capability(99, 1), "8.0 9.0a"),
      Optional(AllOf(HasSubstr("the GPU has compute capability 99.1"), HasSubstr("8.0 9.0a"), HasSubstr("add 99.1"))));
}

TEST(MissingCodeReason, MachineCodeRunsOnLaterMinorVersionsAndSpecificCodeOnItsOwn) {
  const auto runs = [](int major, int minor, std::string_view architectures) {
    return !missing_code_reason(of_capability(major, minor), architectures).has_value();
  };
  for (const int minor : {0, 6, 7, 9}) EXPECT_TRUE(runs(8, minor, "8.0 9.0a")) << minor;
  EXPECT_TRUE(runs(9, 0, "8.0 9.0a"));
  for (const int major : {10, 11, 12}) EXPECT_FALSE(runs(major, 0, "8.0 9.0a")) << major;
  EXPECT_FALSE(runs(9, 0, "8.0"));
  EXPECT_FALSE(runs(8, 0, "8.6"));
  EXPECT_FALSE(runs(10, 3, "10.0a"));
  EXPECT_TRUE(runs(12, 1, "8.0 12.0"));
  EXPECT_TRUE(runs(12, 0, "9.0+PTX"));
  for (const int major : {9, 10, 11, 12}) EXPECT_TRUE(runs(major, 0, "8.0+PTX 9.0a")) << major;
  EXPECT_FALSE(runs(7, 5, "8.0+PTX 9.0a"));
  EXPECT_FALSE(runs(12, 0, "9.0a+PTX"));
  EXPECT_THROW(static_cast<void>(runs(9, 0, "Hopper")), std::invalid_argument);
}

TEST(RunsSm90a, NeedsTheGpuAndMachineCodeForIt) {
  EXPECT_TRUE(runs_sm90a(of_capability(9, 0), "8.0+PTX 9.0a"));
  EXPECT_TRUE(runs_sm90a(of_capability(9, 0), "9.0a"));
  for (const char* without : {"8.0+PTX", "8.0 9.0", "9.0+PTX", "10.0a", ""}) {
    EXPECT_FALSE(runs_sm90a(of_capability(9, 0), without)) << without;
  }
  for (const int major : {8, 10, 12}) EXPECT_FALSE(runs_sm90a(of_capability(major, 0), "8.0+PTX 9.0a")) << major;
}

/// Limits from NVIDIA's CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and the number
/// of SMs from the GPUs' datasheets.
struct KnownGpu {
  const char* name;
  DeviceLimits limits;
};

constexpr std::size_t kKibi = 1024;
constexpr KnownGpu kKnownGpus[] = {
    {"T4",
     {.compute_capability_major = 7,
      .compute_capability_minor = 5,
      .multiprocessors = 40,
      .shared_bytes_per_block = 64 * kKibi}},
    {"A100", {.compute_capability_major = 8, .multiprocessors = 108, .shared_bytes_per_block = 163 * kKibi}},
    {"L4",
     {.compute_capability_major = 8,
      .compute_capability_minor = 9,
      .multiprocessors = 58,
      .shared_bytes_per_block = 99 * kKibi}},
    {"L40S",
     {.compute_capability_major = 8,
      .compute_capability_minor = 9,
      .multiprocessors = 142,
      .shared_bytes_per_block = 99 * kKibi}},
    {"RTX 4090",
     {.compute_capability_major = 8,
      .compute_capability_minor = 9,
      .multiprocessors = 128,
      .shared_bytes_per_block = 99 * kKibi}},
    {"RTX 5090", {.compute_capability_major = 12, .multiprocessors = 170, .shared_bytes_per_block = 99 * kKibi}},
    {"H200", kHopper},
    {"B200", {.compute_capability_major = 10, .multiprocessors = 148, .shared_bytes_per_block = 227 * kKibi}},
};

TEST(KnownGpus, HaveAPlanForEveryKernelOrAReason) {
  for (const KnownGpu& gpu : kKnownGpus) {
    const auto code = missing_code_reason(gpu.limits, "8.0+PTX 9.0a");
    EXPECT_EQ(code.has_value(), gpu.limits.compute_capability_major < 8) << gpu.name;
    if (code) continue;
    for (const auto& [precision, head_dim] : kernel_grid()) {
      for (const std::int64_t tokens : {128, 513, 4096, 16384}) {
        AttentionProblem problem = problem_of(head_dim, precision);
        problem.shape.seq_q = problem.shape.seq_kv = tokens;
        const auto reason = attention_unsupported_reason(problem, gpu.limits);
        if (reason) {
          EXPECT_THAT(*reason, HasSubstr("shared memory")) << gpu.name;
          EXPECT_GE(head_dim, precision == Precision::kBf16 || precision == Precision::kFp16 ? 128 : 80)
              << gpu.name << ": " << *reason;
          EXPECT_EQ(gpu.limits.shared_bytes_per_block, 99 * kKibi) << gpu.name << ": " << *reason;
          continue;
        }
        EXPECT_NO_THROW(static_cast<void>(forward_bytes(problem, gpu.limits))) << gpu.name;
        EXPECT_NO_THROW(static_cast<void>(backward_bytes(problem, gpu.limits))) << gpu.name;
      }
    }
  }
}

TEST(DeviceLimitsCache, ReadsEachDeviceOnceAndKeepsThemApart) {
  int reads = 0;
  DeviceLimitsCache cache{[&](int device) {
    ++reads;
    return DeviceLimits{.compute_capability_major = 8 + device,
                        .compute_capability_minor = 0,
                        .multiprocessors = 100 + device,
                        .shared_bytes_per_block = 1024};
  }};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cache.of(0).multiprocessors, 100);
    EXPECT_EQ(cache.of(1).multiprocessors, 101);
    EXPECT_EQ(cache.of(1).compute_capability_major, 9);
  }
  EXPECT_EQ(reads, 2);
}

TEST(AttentionUnsupportedReason, NamesTheExtentOutOfRange) {
  AttentionProblem problem = problem_of(64, Precision::kBf16);
  problem.shape.batch = 0;
  EXPECT_THAT(refusal(problem), Optional(HasSubstr("batch is 0")));
  problem.shape.batch = 1;
  problem.shape.heads = 65536;
  EXPECT_THAT(refusal(problem), Optional(HasSubstr("heads is 65536")));
  problem.shape.heads = 1;
  problem.shape.seq_q = problem.shape.seq_kv = (std::int64_t{1} << 30) + 1;
  EXPECT_THAT(refusal(problem), Optional(HasSubstr("seq_q is 1073741825")));
  problem.shape.seq_q = 1;
  problem.shape.seq_kv = -1;
  EXPECT_THAT(refusal(problem), Optional(HasSubstr("seq_kv is -1")));
}

TEST(AttentionUnsupportedReason, ACausalMaskNeedsASquare) {
  AttentionProblem problem = problem_of(64, Precision::kBf16);
  problem.shape.seq_kv = 130;
  EXPECT_THAT(refusal(problem), Optional(HasSubstr("a causal mask needs as many queries as keys, not 129 and 130")));
  problem.shape.causal = false;
  EXPECT_EQ(refusal(problem), std::nullopt);
}

TEST(AttentionForwardWorkspace, IsOfTheDeviceThatIsGiven) {
  AttentionProblem problem = problem_of(64, Precision::kBf16);
  problem.shape.seq_q = problem.shape.seq_kv = 4096;
  problem.shape.causal = false;
  problem.shape.batch = problem.shape.heads = 1;
  DeviceLimits half = kHopper;
  half.multiprocessors = 66;
  EXPECT_GT(forward_bytes(problem, kHopper), 0U);
  EXPECT_EQ(forward_bytes(problem, half), 0U);  // 64 tiles are more than half of the 66 SMs
}

TEST(AttentionForwardWorkspace, HoldsValuesOnceMoreForTf32OnHopper) {
  if (!runs_sm90a(kHopper, built_architectures())) GTEST_SKIP() << "a build without Hopper's kernels";
  AttentionProblem problem = problem_of(64, Precision::kTf32);
  problem.shape.seq_q = problem.shape.seq_kv = 8000;
  // 6 heads with 63 tiles of V, each of 128 keys and head_dim 64, and the counter.
  EXPECT_EQ(forward_bytes(problem, kHopper), 6u * 63 * 128 * 64 * 4 + 256);
  problem.precision = Precision::kFp32;
  EXPECT_EQ(forward_bytes(problem, kHopper), 0U);
}

TEST(AttentionForwardWorkspace, IsBoundedWhateverTheLengths) {
  DeviceLimits ampere = kHopper;
  ampere.compute_capability_major = 8;
  for (const auto& [precision, head_dim] : kernel_grid()) {
    SCOPED_TRACE(fmt::format("{} {}", to_string(precision), head_dim));
    std::size_t most = 0;
    for (const bool causal : {false, true}) {
      for (std::int64_t seq = 1; seq <= 1 << 20; seq *= 2) {
        AttentionProblem problem = problem_of(head_dim, precision);
        problem.shape.seq_kv = seq;
        problem.shape.causal = causal;
        if (causal) problem.shape.seq_q = seq;
        most = std::max(most, forward_bytes(problem, ampere));
      }
    }
    const bool divides = (precision == Precision::kBf16 || precision == Precision::kFp16) && head_dim <= 128;
    EXPECT_EQ(most > 0, divides);
    EXPECT_LE(most, std::size_t{32} << 20U);
  }
}

TEST(AttentionBackwardWorkspace, IsTheSameForTheSameProblemAndGrowsWithItLinearly) {
  // The backward pass may need at most one buffer per element of dq, dk or dv, so memory stays O(seq).
  for (const auto& [precision, head_dim] : kernel_grid()) {
    SCOPED_TRACE(fmt::format("{} {}", to_string(precision), head_dim));
    for (const bool deterministic : {false, true}) {
      AttentionProblem problem = problem_of(head_dim, precision);
      problem.deterministic = deterministic;
      const std::size_t bytes = backward_bytes(problem, kHopper);
      EXPECT_EQ(backward_bytes(problem, kHopper), bytes);
      problem.shape.seq_q = problem.shape.seq_kv = 65536;
      const std::size_t long_bytes = backward_bytes(problem, kHopper);
      const auto elements = static_cast<std::size_t>(2 * 3 * 65536 * head_dim);
      EXPECT_LE(long_bytes, elements * 4 * 3 + (std::size_t{64} << 20U));
      EXPECT_GE(long_bytes, bytes);
    }
  }
}

}  // namespace
}  // namespace tbench::kernels
