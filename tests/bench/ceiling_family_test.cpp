#include <gtest/gtest.h>

#include <set>

#include "bench/families.hpp"

namespace tbench::bench {
namespace {

CaseId case_of(const std::string& what, const std::string& regime) {
  return CaseId{"Ceiling", {{"what", what}, {"regime", regime}}};
}

TEST(CeilingFamily, TheStandardSuiteHasEveryCeilingInEveryRegimeThatMakesSense) {
  const FamilySpec spec = ceiling_family().spec;
  std::set<std::string> sensible;
  for (const std::string& what : spec.keys.at(0).known) {
    for (const std::string& regime : spec.keys.at(1).known) {
      const CaseId id = case_of(what, regime);
      if (!spec.nonsense(id)) sensible.insert(id.name());
    }
  }
  std::set<std::string> listed;
  for (const CaseId& id : expand(std::vector{spec}, Suite::kStandard, {})) listed.insert(id.name());
  EXPECT_EQ(listed, sensible);
  // 4 bandwidths, 5 products in two regimes, launch and event, dispatch and 4 copies from and to the host
  EXPECT_EQ(listed.size(), 4U + 5 * 2 + 2 + 5);
}

TEST(CeilingFamily, WhatTheHostTakesPartInIsChainedAndMemoryIsNot) {
  const FamilySpec spec = ceiling_family().spec;
  EXPECT_EQ(spec.nonsense(case_of("dispatch", "burst")), "dispatch is measured sustained alone");
  EXPECT_EQ(spec.nonsense(case_of("copy", "sustained")), "copy is measured in bursts alone");
  EXPECT_EQ(spec.nonsense(case_of("gemm_bf16", "sustained")), std::nullopt);
}

TEST(CeilingFamily, PrescribesItsSamplingAndTheStateOfTheCache) {
  const Family family = ceiling_family();
  measure::SamplerOptions sampler = measure::burst_options();
  sampler.l2 = L2State::kWarm;
  sampler.fixed_warm_up = 0;
  sampler.fixed_samples = 1;
  family.prescribe(case_of("copy", "burst"), sampler);
  EXPECT_EQ(sampler.l2, L2State::kCold);
  EXPECT_FALSE(sampler.fixed_warm_up || sampler.fixed_samples);
  EXPECT_EQ(sampler.warm_up_time, measure::burst_options().warm_up_time);
  family.prescribe(case_of("l2_read", "burst"), sampler);
  EXPECT_EQ(sampler.l2, L2State::kWarm);
  measure::SamplerOptions steps;
  family.prescribe(case_of("gemm_bf16", "sustained"), steps);
  // A clock at the power limit settles in what is dropped of a chunk, which ends before the limit's control overshoots.
  EXPECT_EQ(steps.fixed_warm_up, 20);
  EXPECT_EQ(steps.dropped_time, Seconds{0.25});
  EXPECT_EQ(steps.chunk_time, Seconds{0.55});
  EXPECT_LE(steps.sample_limit, Seconds{2.0});
  measure::SamplerOptions smoke;
  smoke.warm_up_time = smoke.sample_time = {0.01};
  family.prescribe(case_of("gemm_bf16", "sustained"), smoke);
  EXPECT_EQ(smoke.warm_up_time, Seconds{0.01});  // what is shorter stays
}

TEST(CeilingFamily, ProductsHaveADatasheetRateWhereTheirPrecisionHas) {
  const Family family = ceiling_family();
  EXPECT_EQ(family.precision(case_of("gemm_bf16", "burst")), Precision::kBf16);
  EXPECT_EQ(family.precision(case_of("gemm_tf32", "burst")), Precision::kTf32);
  EXPECT_EQ(family.precision(case_of("gemm_fp8_e4m3", "burst")), std::nullopt);
  EXPECT_EQ(family.precision(case_of("copy", "burst")), std::nullopt);
  EXPECT_FALSE(family.ceiling);  // held against nothing
}

}  // namespace
}  // namespace tbench::bench
