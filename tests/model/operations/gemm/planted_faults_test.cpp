// Tests which share of the faults in planted_faults.hpp the verification of a matrix product finds. A fault is found if
// the check before or the check after the timing fails in every precision of the fault.
#include "tests/model/operations/gemm/planted_faults.hpp"

#include <gtest/gtest.h>

#include "model/operations/gemm/verify.hpp"
#include "tests/model/case_support.hpp"
#include "tests/model/mutation_score.hpp"

namespace tbench::model::planted_gemm {
namespace {

/// Does what a case does: verifies, runs, and verifies again on other data.
/// @return  the message of the verification that failed, or "" if none did
std::string message_of(const Fault& fault, GemmPrecision precision) {
  constexpr std::uint64_t kSeed = 7;
  GemmOperands operands = make_gemm_operands({.m = fault.m,
                                              .n = fault.n,
                                              .k = fault.k,
                                              .precision = precision,
                                              .impl = "planted",
                                              .device = DeviceKind::kCpu,
                                              .seed = kSeed});
  FaultyProduct product{operands, fault};
  const Verification before = verify_gemm_product(operands, product, kSeed).verification;
  if (!before.passed) return before.message;
  product.launch();
  const Verification after = verify_gemm_product(operands, product, kSeed + 1).verification;
  return after.passed ? "" : after.message;
}

// One fault survives. Truncating an element causes twice the error of rounding it. If k is split, rounding the splits
// may cause larger errors, and the check cannot tell what a kernel did.
const std::vector<std::string> kSurvivors{"y cut off, not rounded"};

TEST(PlantedGemmFaults, AllButTheNamedSurvivorAreFound) {
  const OneThread one_thread;
  MutationScore score;
  for (const Fault& fault : all_faults()) {
    for (const GemmPrecision precision : fault.precisions) {
      score.add(fault.name, to_string(precision), message_of(fault, precision));
    }
  }
  score.print();
  EXPECT_GE(score.faults(), 30U);
  EXPECT_EQ(score.survivors(), kSurvivors);
}

TEST(PlantedGemmFaults, WithoutAFaultNothingIsFound) {
  const OneThread one_thread;
  for (const GemmPrecision precision : kAllGemmPrecisions) {
    EXPECT_EQ(message_of({.name = "none", .launch = &launch_right}, precision), "") << to_string(precision);
  }
}

}  // namespace
}  // namespace tbench::model::planted_gemm
