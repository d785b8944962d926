// Tests that the Kernel family's verification finds faults injected into the kernels of a fused step (step_fault.hpp).
// The program is linked with a build of those kernels that includes the faults.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>

#include "kernels/common/step_fault.hpp"
#include "tests/model/case_support.hpp"
#include "tests/model/operations/kernels/kernel_cases.hpp"

namespace tbench::kernels {

InjectedStepFault& step_fault() {
  static InjectedStepFault fault{};
  return fault;
}

}  // namespace tbench::kernels

namespace tbench::model {
namespace {

using kernels::InjectedStepFault;

constexpr auto kForward = KernelPass::kForward, kBackward = KernelPass::kBackward;

enum class Where { kBoth, kFp32, kBf16 };  // the precisions in which it must be found
enum class When { kAlways, kSometimes };   // a race need not occur in every run

struct FaultRow {
  const char* name;
  InjectedStepFault fault;
  const char* op;
  KernelPass pass;
  Where where{Where::kBoth};
  When when{When::kAlways};
};

/// Only kBf16 has a copy of a bf16 parameter, and 16-bit gradients of a branch next to a float32 stream.
const std::array kFaults{
    FaultRow{"step", InjectedStepFault::kAdamWStep, "adamw", kForward, Where::kFp32},
    FaultRow{"second_correction", InjectedStepFault::kAdamWSecondCorrection, "adamw", kForward, Where::kFp32},
    FaultRow{"old_moment", InjectedStepFault::kAdamWOldMoment, "adamw", kForward, Where::kFp32},
    FaultRow{"plain_gradient", InjectedStepFault::kAdamWPlainGradient, "adamw", kForward, Where::kFp32},
    FaultRow{"decay", InjectedStepFault::kAdamWDecay, "adamw", kForward, Where::kFp32},
    FaultRow{"last_chunk", InjectedStepFault::kAdamWLastChunk, "adamw", kForward, Where::kFp32},
    FaultRow{"last_element", InjectedStepFault::kAdamWLastElement, "adamw", kForward, Where::kFp32},
    FaultRow{"stale_copy", InjectedStepFault::kAdamWStaleCopy, "adamw_cast", kForward, Where::kBf16},
    FaultRow{"epsilon", InjectedStepFault::kNormEpsilon, "add_rmsnorm", kForward, Where::kFp32},
    FaultRow{"residual", InjectedStepFault::kNormResidual, "add_rmsnorm", kForward},
    FaultRow{"branch_row", InjectedStepFault::kNormBranchRow, "add_rmsnorm", kForward},
    FaultRow{"last_vector", InjectedStepFault::kNormLastVector, "add_rmsnorm", kForward},
    FaultRow{"padded_width", InjectedStepFault::kNormPaddedWidth, "add_rmsnorm", kForward},
    FaultRow{"weight_column", InjectedStepFault::kNormWeightColumn, "add_rmsnorm", kForward},
    FaultRow{"unwritten_sum", InjectedStepFault::kNormUnwrittenSum, "add_rmsnorm", kForward},
    FaultRow{"slot", InjectedStepFault::kNormSlot, "add_rmsnorm", kForward},
    FaultRow{"no_wait", InjectedStepFault::kNormNoWait, "add_rmsnorm", kForward, Where::kBoth, When::kSometimes},
    FaultRow{"barrier", InjectedStepFault::kNormBarrier, "add_rmsnorm", kForward, Where::kBoth, When::kSometimes},
    FaultRow{"alone_epsilon", InjectedStepFault::kNormEpsilon, "rmsnorm", kForward, Where::kFp32},
    FaultRow{"alone_slot", InjectedStepFault::kNormSlot, "rmsnorm", kForward},
    FaultRow{"past", InjectedStepFault::kNormPast, "add_rmsnorm", kBackward},
    FaultRow{"mean", InjectedStepFault::kNormMean, "add_rmsnorm", kBackward},
    FaultRow{"rstd_row", InjectedStepFault::kNormRstdRow, "add_rmsnorm", kBackward},
    FaultRow{"backward_slot", InjectedStepFault::kNormBackwardSlot, "add_rmsnorm", kBackward},
    FaultRow{"dweight_slope", InjectedStepFault::kNormDweightSlope, "add_rmsnorm", kBackward},
    FaultRow{"group_sum", InjectedStepFault::kNormGroupSum, "add_rmsnorm", kBackward},
    FaultRow{"last_share", InjectedStepFault::kNormLastShare, "add_rmsnorm", kBackward},
    FaultRow{"stale_shares", InjectedStepFault::kNormStaleShares, "add_rmsnorm", kBackward, Where::kBoth,
             When::kSometimes},
    FaultRow{"last_columns", InjectedStepFault::kNormLastColumns, "add_rmsnorm", kBackward},
    FaultRow{"unwritten_branch", InjectedStepFault::kNormUnwrittenBranch, "add_rmsnorm", kBackward, Where::kBf16},
    FaultRow{"alone_mean", InjectedStepFault::kNormMean, "rmsnorm", kBackward},
    FaultRow{"no_gate", InjectedStepFault::kSwigluNoGate, "swiglu", kForward},
    FaultRow{"last_vector", InjectedStepFault::kSwigluLastVector, "swiglu", kForward},
    FaultRow{"half_row", InjectedStepFault::kSwigluHalfRow, "swiglu_packed", kForward},
    FaultRow{"slope", InjectedStepFault::kSwigluSlope, "swiglu", kBackward},
    FaultRow{"dup", InjectedStepFault::kSwigluDup, "swiglu_packed", kBackward},
    FaultRow{"h", InjectedStepFault::kSwigluH, "swiglu_packed", kBackward},
    FaultRow{"target", InjectedStepFault::kEntropyTarget, "cross_entropy_in_place", kForward},
    FaultRow{"target_row", InjectedStepFault::kEntropyTargetRow, "cross_entropy_in_place", kForward},
    FaultRow{"last_vector", InjectedStepFault::kEntropyLastVector, "cross_entropy_in_place", kForward, Where::kFp32},
    FaultRow{"rescale", InjectedStepFault::kEntropyRescale, "cross_entropy_in_place", kForward},
    FaultRow{"loss", InjectedStepFault::kEntropyLoss, "cross_entropy_in_place", kForward},
    FaultRow{"barrier", InjectedStepFault::kEntropyBarrier, "cross_entropy_in_place", kForward, Where::kBoth,
             When::kSometimes},
    FaultRow{"sign", InjectedStepFault::kRopeSign, "rope", kBackward},
    FaultRow{"position", InjectedStepFault::kRopePosition, "rope", kForward},
    FaultRow{"keys", InjectedStepFault::kRopeKeys, "rope", kForward},
    FaultRow{"last_head", InjectedStepFault::kRopeLastHead, "rope_qkv", kForward},
    FaultRow{"pair", InjectedStepFault::kRopePair, "rope_qkv", kForward},
    FaultRow{"row", InjectedStepFault::kEmbeddingRow, "embedding", kForward},
    FaultRow{"last_vector", InjectedStepFault::kEmbeddingLastVector, "embedding", kForward},
    FaultRow{"stored", InjectedStepFault::kEmbeddingStored, "embedding", kBackward},
    FaultRow{"not_cleared", InjectedStepFault::kEmbeddingNotCleared, "embedding", kBackward},
    FaultRow{"token", InjectedStepFault::kEmbeddingToken, "embedding", kBackward},
};

/// Rows have 130 or 260 vectors, which is not a multiple of a warp. There are more rows than CTAs process at once, and
/// the parameters are not multiples of the chunks.
const KernelShape kFaultShape{
    {.name = "faults", .d_model = 1040, .d_ff = 528, .num_layers = 1, .num_heads = 10}, 4, 1024};

struct FaultCase {
  FaultRow row;
  Precision precision{};
};

std::vector<FaultCase> fault_cases() {
  std::vector<FaultCase> cases;
  for (const FaultRow& row : kFaults) {
    if (row.where != Where::kBf16) cases.push_back({row, Precision::kFp32});
    if (row.where != Where::kFp32) cases.push_back({row, Precision::kBf16});
  }
  return cases;
}

class StepFaultGpu : public GpuTest, public testing::WithParamInterface<FaultCase> {
 protected:
  void TearDown() override { kernels::step_fault() = InjectedStepFault::kNone; }

  /// Verifies twice, as transformer_bench does. The second verification uses other data, so results that the first left
  /// in memory are wrong for it. Every seed has its own data, too.
  /// @return  a message that says what was wrong; empty if nothing was
  static std::string failure_with(InjectedStepFault fault, std::uint64_t seed) {
    const auto& [row, precision] = GetParam();
    KernelConfig config = kernel_config({row.op, row.pass, precision, "fused"}, kFaultShape, DeviceKind::kCuda);
    config.seed = seed;
    const auto operation = make_kernel_case(config);
    operation->build();
    kernels::step_fault() = fault;
    const Verification first = operation->verify();
    const std::optional<Verification> second = operation->verify_again();
    kernels::step_fault() = InjectedStepFault::kNone;
    if (!first.passed) return first.message;
    return second->passed ? "" : second->message;
  }
};

TEST_P(StepFaultGpu, IsFound) {
  constexpr std::uint64_t kRaceRuns = 20;
  ASSERT_EQ(failure_with(InjectedStepFault::kNone, 1), "");
  const FaultRow& row = GetParam().row;
  std::string failure;
  for (std::uint64_t run = 0; run < (row.when == When::kSometimes ? kRaceRuns : 1) && failure.empty(); ++run) {
    failure = failure_with(row.fault, 2 * run + 10);
  }
  EXPECT_NE(failure, "");
}

std::string name_of_case(const testing::TestParamInfo<FaultCase>& info) {
  const auto& [row, precision] = info.param;
  return fmt::format("{}_{}_{}_{}", row.op, to_string(row.pass), row.name, to_string(precision));
}

INSTANTIATE_TEST_SUITE_P(Faults, StepFaultGpu, testing::ValuesIn(fault_cases()), name_of_case);

}  // namespace
}  // namespace tbench::model
