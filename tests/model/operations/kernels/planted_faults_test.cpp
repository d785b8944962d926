// Tests which share of the faults in planted_faults.hpp the verification of the models' operations finds. A fault is
// found if the check before or the check after the timing fails in every precision of the fault.
#include "tests/model/operations/kernels/planted_faults.hpp"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "model/operations/kernels/verify.hpp"
#include "tests/model/case_support.hpp"
#include "tests/model/mutation_score.hpp"
#include "tests/model/operations/kernels/kernel_cases.hpp"

namespace tbench::model::planted_kernels {
namespace {

/// The shape has 96 tokens, and no extent is a power of two.
const KernelShape kShape{{.name = "odd", .d_model = 72, .d_ff = 136, .num_layers = 1, .num_heads = 4}, 2, 48};

/// Does what a case does: builds, verifies, runs, and verifies again on other data.
/// @return  the message of the verification that failed, or "" if none did
std::string message_of(const Fault& fault, Precision precision) {
  const KernelOp& op = kernel_ops().at(fault.op);
  KernelImpl impl = op.impls.at("aten");
  (fault.pass == KernelPass::kForward ? impl.forward : impl.backward) = fault.run;
  remembered().clear();
  KernelOperands operands{.config = kernel_config({fault.op, fault.pass, precision}, kShape, DeviceKind::kCpu),
                          .inputs = {},
                          .gradients = {},
                          .saved = {}};
  {
    const at::NoGradGuard no_grad;
    op.fill(operands);
  }
  // A backward starts from a correct forward, even if the fault changes the forward.
  if (impl.prepare != nullptr) impl.prepare(operands);
  const std::uint64_t seed = operands.config.seed;
  const Verification before = verify_kernel(operands, op, impl, seed);
  if (!before.passed) return before.message;
  static_cast<void>(run_kernel(operands, impl));
  const Verification after = verify_kernel(operands, op, impl, seed + 1);
  return after.passed ? "" : after.message;
}

const std::vector<std::string> kSurvivors{};

TEST(PlantedKernelFaults, AllButTheNamedSurvivorAreFound) {
  const OneThread one_thread;
  MutationScore score;
  for (const Fault& fault : all_faults()) {
    for (const Precision precision : fault.precisions) {
      score.add(fault.op + ": " + fault.name, to_string(precision), message_of(fault, precision));
    }
  }
  remembered().clear();
  score.print();
  EXPECT_GE(score.faults(), 30U);
  EXPECT_EQ(score.survivors(), kSurvivors);
}

TEST(PlantedKernelFaults, WithoutAFaultNothingIsFound) {
  const OneThread one_thread;
  for (const KernelVariant& variant : kernel_variants_in({Precision::kFp32, Precision::kBf16})) {
    EXPECT_EQ(message_of({variant.op, variant.pass, "none", &right}, variant.precision), "") << name_of(variant);
  }
}

}  // namespace
}  // namespace tbench::model::planted_kernels
