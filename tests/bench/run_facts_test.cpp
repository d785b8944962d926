#include "bench/run_facts.hpp"

#include <gtest/gtest.h>

#include "support/sample_results.hpp"

namespace tbench::bench {
namespace {

TEST(RunFacts, WithoutIdentityNothingTellsAMachineFromOthersOfItsKind) {
  const Environment environment = support::golden_file().environment;
  ASSERT_NE(environment.gpu.value().uuid, "");
  const Environment anonymous = without_identity(environment);
  EXPECT_EQ(anonymous.gpu.value().uuid, "");
  Environment same = environment;
  same.gpu->uuid.clear();
  EXPECT_EQ(anonymous, same);
  EXPECT_EQ(without_identity(support::cpu_environment()), support::cpu_environment());
}

}  // namespace
}  // namespace tbench::bench
