// Tests which share of the faults in planted_faults.hpp the verification of an attention core finds. A fault is found
// if the check before or the check after the timing fails in every precision of the fault.
#include "tests/model/attention/planted_faults.hpp"

#include <gtest/gtest.h>

#include "model/attention/verify.hpp"
#include "tests/model/attention/attention_support.hpp"
#include "tests/model/case_support.hpp"
#include "tests/model/mutation_score.hpp"

namespace tbench::model::planted_attention {
namespace {

/// Does what a case does: verifies, runs, and verifies again on other data.
/// @return  the message of the verification that failed, or "" if none did
std::string message_of(const Fault& fault, Precision precision) {
  const AttentionImpl impl = planted(fault);
  AttentionRunner runner{attention_config(DeviceKind::kCpu, "planted", fault.pass, precision, fault.shape), impl};
  const std::uint64_t seed = runner.operands().config.seed;
  const Verification before = verify_attention(runner, seed);
  if (!before.passed) return before.message;
  runner.step();
  const Verification after = verify_attention(runner, seed + 1);
  return after.passed ? "" : after.message;
}

void expect_all_found(const std::vector<Fault>& faults) {
  const OneThread one_thread;
  MutationScore score;
  for (const Fault& fault : faults) {
    for (const Precision precision : fault.precisions) {
      score.add(fault.name, to_string(precision), message_of(fault, precision));
    }
  }
  score.print();
  EXPECT_EQ(score.faults(), faults.size());
  EXPECT_EQ(score.survivors(), std::vector<std::string>{});
}

TEST(PlantedAttentionForwardFaults, AreFound) { expect_all_found(forward_faults()); }
TEST(PlantedAttentionBackwardFaults, AreFound) { expect_all_found(backward_faults()); }

TEST(PlantedAttentionFaults, AreThirtyAndMore) { EXPECT_GE(forward_faults().size() + backward_faults().size(), 30U); }

TEST(PlantedAttentionFaults, WithoutAFaultNothingIsFound) {
  const OneThread one_thread;
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    for (const AttentionPass pass :
         {AttentionPass::kForward, AttentionPass::kBackward, AttentionPass::kForwardBackward}) {
      EXPECT_EQ(message_of({.name = "none", .pass = pass}, precision), "") << to_string(precision);
    }
  }
}

}  // namespace
}  // namespace tbench::model::planted_attention
