// Faults planted into the kernels of a fused step (step_fault.hpp) must be found by the Kernel family's verification.
// Linked with those kernels built again, faults included, instead of the library's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>

#include "kernels/common/step_fault.hpp"
#include "tests/model/case_support.hpp"
#include "tests/model/operations/kernels/kernel_cases.hpp"

namespace tbench::kernels {

StepFault& step_fault() {
  static StepFault fault{};
  return fault;
}

}  // namespace tbench::kernels

namespace tbench::model {
namespace {

using kernels::StepFault;

constexpr auto kForward = KernelPass::kForward, kBackward = KernelPass::kBackward;

enum class Where { kBoth, kFp32, kBf16 };  // the precisions that it has to be found in
enum class When { kAlways, kSometimes };   // a race need not show in every run

struct FaultRow {
  const char* name;
  StepFault fault;
  const char* op;
  KernelPass pass;
  Where where{Where::kBoth};
  When when{When::kAlways};
};

/// A copy for a bf16 parameter, and 16-bit gradients of a branch beside a float32 stream, are kBf16's alone.
const std::array kFaults{
    FaultRow{"step", StepFault::kAdamWStep, "adamw", kForward, Where::kFp32},
    FaultRow{"second_correction", StepFault::kAdamWSecondCorrection, "adamw", kForward, Where::kFp32},
    FaultRow{"old_moment", StepFault::kAdamWOldMoment, "adamw", kForward, Where::kFp32},
    FaultRow{"plain_gradient", StepFault::kAdamWPlainGradient, "adamw", kForward, Where::kFp32},
    FaultRow{"decay", StepFault::kAdamWDecay, "adamw", kForward, Where::kFp32},
    FaultRow{"last_chunk", StepFault::kAdamWLastChunk, "adamw", kForward, Where::kFp32},
    FaultRow{"last_element", StepFault::kAdamWLastElement, "adamw", kForward, Where::kFp32},
    FaultRow{"stale_copy", StepFault::kAdamWStaleCopy, "adamw_cast", kForward, Where::kBf16},
    FaultRow{"epsilon", StepFault::kNormEpsilon, "add_rmsnorm", kForward, Where::kFp32},
    FaultRow{"residual", StepFault::kNormResidual, "add_rmsnorm", kForward},
    FaultRow{"branch_row", StepFault::kNormBranchRow, "add_rmsnorm", kForward},
    FaultRow{"last_vector", StepFault::kNormLastVector, "add_rmsnorm", kForward},
    FaultRow{"padded_width", StepFault::kNormPaddedWidth, "add_rmsnorm", kForward},
    FaultRow{"weight_column", StepFault::kNormWeightColumn, "add_rmsnorm", kForward},
    FaultRow{"unwritten_sum", StepFault::kNormUnwrittenSum, "add_rmsnorm", kForward},
    FaultRow{"slot", StepFault::kNormSlot, "add_rmsnorm", kForward},
    FaultRow{"no_wait", StepFault::kNormNoWait, "add_rmsnorm", kForward, Where::kBoth, When::kSometimes},
    FaultRow{"barrier", StepFault::kNormBarrier, "add_rmsnorm", kForward, Where::kBoth, When::kSometimes},
    FaultRow{"alone_epsilon", StepFault::kNormEpsilon, "rmsnorm", kForward, Where::kFp32},
    FaultRow{"alone_slot", StepFault::kNormSlot, "rmsnorm", kForward},
    FaultRow{"past", StepFault::kNormPast, "add_rmsnorm", kBackward},
    FaultRow{"mean", StepFault::kNormMean, "add_rmsnorm", kBackward},
    FaultRow{"rstd_row", StepFault::kNormRstdRow, "add_rmsnorm", kBackward},
    FaultRow{"backward_slot", StepFault::kNormBackwardSlot, "add_rmsnorm", kBackward},
    FaultRow{"dweight_slope", StepFault::kNormDweightSlope, "add_rmsnorm", kBackward},
    FaultRow{"group_sum", StepFault::kNormGroupSum, "add_rmsnorm", kBackward},
    FaultRow{"last_share", StepFault::kNormLastShare, "add_rmsnorm", kBackward},
    FaultRow{"stale_shares", StepFault::kNormStaleShares, "add_rmsnorm", kBackward, Where::kBoth, When::kSometimes},
    FaultRow{"last_columns", StepFault::kNormLastColumns, "add_rmsnorm", kBackward},
    FaultRow{"unwritten_branch", StepFault::kNormUnwrittenBranch, "add_rmsnorm", kBackward, Where::kBf16},
    FaultRow{"alone_mean", StepFault::kNormMean, "rmsnorm", kBackward},
    FaultRow{"no_gate", StepFault::kSwigluNoGate, "swiglu", kForward},
    FaultRow{"last_vector", StepFault::kSwigluLastVector, "swiglu", kForward},
    FaultRow{"half_row", StepFault::kSwigluHalfRow, "swiglu_packed", kForward},
    FaultRow{"slope", StepFault::kSwigluSlope, "swiglu", kBackward},
    FaultRow{"dup", StepFault::kSwigluDup, "swiglu_packed", kBackward},
    FaultRow{"h", StepFault::kSwigluH, "swiglu_packed", kBackward},
    FaultRow{"target", StepFault::kEntropyTarget, "cross_entropy_in_place", kForward},
    FaultRow{"target_row", StepFault::kEntropyTargetRow, "cross_entropy_in_place", kForward},
    FaultRow{"last_vector", StepFault::kEntropyLastVector, "cross_entropy_in_place", kForward, Where::kFp32},
    FaultRow{"rescale", StepFault::kEntropyRescale, "cross_entropy_in_place", kForward},
    FaultRow{"loss", StepFault::kEntropyLoss, "cross_entropy_in_place", kForward},
    FaultRow{"barrier", StepFault::kEntropyBarrier, "cross_entropy_in_place", kForward, Where::kBoth, When::kSometimes},
    FaultRow{"sign", StepFault::kRopeSign, "rope", kBackward},
    FaultRow{"position", StepFault::kRopePosition, "rope", kForward},
    FaultRow{"keys", StepFault::kRopeKeys, "rope", kForward},
    FaultRow{"last_head", StepFault::kRopeLastHead, "rope_qkv", kForward},
    FaultRow{"pair", StepFault::kRopePair, "rope_qkv", kForward},
    FaultRow{"row", StepFault::kEmbeddingRow, "embedding", kForward},
    FaultRow{"last_vector", StepFault::kEmbeddingLastVector, "embedding", kForward},
    FaultRow{"stored", StepFault::kEmbeddingStored, "embedding", kBackward},
    FaultRow{"not_cleared", StepFault::kEmbeddingNotCleared, "embedding", kBackward},
    FaultRow{"token", StepFault::kEmbeddingToken, "embedding", kBackward},
};

/// Rows of 130 or 260 vectors, which no warp divides, more of them than blocks take at once, and parameters that chunks
/// do not divide.
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
  void TearDown() override { kernels::step_fault() = StepFault::kNone; }

  /// As transformer_bench verifies: twice, the second time on other data, which what is left of the first is no result
  /// for. Every seed has data of its own, too.
  /// @return  what was wrong; empty: nothing
  static std::string failure_with(StepFault fault, std::uint64_t seed) {
    const auto& [row, precision] = GetParam();
    KernelConfig config = kernel_config({row.op, row.pass, precision, "fused"}, kFaultShape, DeviceKind::kCuda);
    config.seed = seed;
    const auto operation = make_kernel_case(config);
    operation->build();
    kernels::step_fault() = fault;
    const Verification first = operation->verify();
    const std::optional<Verification> second = operation->verify_again();
    kernels::step_fault() = StepFault::kNone;
    if (!first.passed) return first.message;
    return second->passed ? "" : second->message;
  }
};

TEST_P(StepFaultGpu, IsFound) {
  constexpr std::uint64_t kRaceRuns = 20;
  ASSERT_EQ(failure_with(StepFault::kNone, 1), "");
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
