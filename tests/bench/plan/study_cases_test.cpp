#include "bench/plan/study_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "bench/families/family.hpp"
#include "bench/plan/selection.hpp"
#include "bench/run/run_facts.hpp"
#include "bench/run/sampler_options.hpp"
#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

using ::testing::HasSubstr;

StudyCases cases_of(const std::string& studies, Options options = {}) {
  options.study = studies;
  return study_cases(specs_of(all_families(options.sizes)), options, /*has_gpu=*/true);
}

TEST(StudyCases, OfAListAreThoseOfEachStudyOnce) {
  const StudyCases end_to_end = cases_of("end_to_end");
  const StudyCases flash = cases_of("flash");
  // All cases of memory are cases of end_to_end.
  const StudyCases all = cases_of("end_to_end,memory,flash");
  EXPECT_EQ(all.cases.size(), end_to_end.cases.size() + flash.cases.size());
  std::set<std::string> names;
  for (const CaseId& id : all.cases) EXPECT_TRUE(names.insert(id.name()).second) << id.name();
  EXPECT_EQ(all.protocols.size(), all.cases.size());
}

TEST(StudyCases, NameTheCeilingsThatTheirTablesNeedOnce) {
  const std::vector<CaseId> both = cases_of("softmax_vs_matmul,gemm_share").ceilings;
  EXPECT_EQ(std::ranges::count(both, CaseId::parse("Ceiling/what:copy/regime:burst")), 1);
  EXPECT_EQ(std::ranges::count(both, CaseId::parse("Ceiling/what:gemm_fp32/regime:sustained")), 1);
  EXPECT_THAT(cases_of("memory").ceilings, ::testing::IsEmpty());
}

TEST(StudyCases, RefuseAnAxisThatNoneOfTheirStudiesHas) {
  Options options;
  const auto answer_to = [&](const std::string& axis) -> std::string {
    options.axes = {parse_axis_override(axis)};
    try {
      static_cast<void>(cases_of("precision", options));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(answer_to("Model.ctx=64"), "");
  EXPECT_EQ(answer_to("Model.layers=4"),
            "--tb_axis=Model.layers: the study precision has no such axis (axes: size, ctx, batch, pass, precision, "
            "impl). Leave it out, or run a suite.");
  EXPECT_EQ(answer_to("Attention.batch=4"),
            "--tb_axis=Attention.batch: the study precision has no such axis (it has no cases of Attention). Leave it "
            "out, or run a suite.");
}

TEST(StudyCases, TakeATraceIfOneStudyNeedsIt) {
  const CaseId shared = CaseId::parse("Model/size:small/ctx:512/batch:4/pass:train_step/precision:fp32/impl:eager");
  EXPECT_FALSE(protocol_of(cases_of("end_to_end").protocols, shared).needs_trace);
  EXPECT_TRUE(protocol_of(cases_of("end_to_end,ranges").protocols, shared).needs_trace);
  EXPECT_TRUE(protocol_of(cases_of("ranges,end_to_end").protocols, shared).needs_trace);
}

TEST(StudyCases, TakeNoTraceIfNoneOfTheirStudiesWantsIt) {
  const CaseId sum = CaseId::parse("Accumulation/op:sum/n:1000/input:fp32/accumulator:fp32/method:sequential");
  Options options;
  options.fixed_warm_up = 1;
  options.fixed_samples = 3;
  EXPECT_TRUE(protocol_of(cases_of("writeup", options).protocols, sum).without_trace);
  EXPECT_FALSE(protocol_of(cases_of("accumulation", options).protocols, sum).without_trace);
  EXPECT_FALSE(protocol_of(cases_of("writeup,accumulation", options).protocols, sum).without_trace);
}

TEST(StudyCases, RefuseTwoProtocolsOfOneCase) {
  // The write-up has counts of steps for the model, the study memory has none.
  try {
    static_cast<void>(cases_of("writeup,memory"));
    FAIL() << "took two protocols";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--tb_study=writeup,memory: writeup gives a case 5 warm-up and 10 timed steps, "
                                        "memory as many as needed of both steps (first: 'Model/size:small/ctx:128/"));
    EXPECT_THAT(error.what(), HasSubstr("Run one after the other, or give both counts for all: --tb_warmup=N"));
  }
  Options options;
  options.fixed_warm_up = 3;
  options.fixed_samples = 7;
  EXPECT_FALSE(cases_of("writeup,memory", options).cases.empty());
}

TEST(StudyCases, SayWhichStudyNeedsRanks) {
  try {
    static_cast<void>(cases_of("memory,collectives"));
    FAIL() << "took cases of ranks";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--tb_study=memory,collectives: the cases of collectives need several ranks"));
  }
}

TEST(StudyCases, SampleEachCaseByItsOwnProtocol) {
  const StudyCases writeup = cases_of("writeup");
  const auto sampler_of = [&](const char* prefix, const Options& options) {
    const auto id =
        std::ranges::find_if(writeup.cases, [&](const CaseId& one) { return one.name().starts_with(prefix); });
    return sampler_options(options, Suite::kStandard, Regime::kSustained, protocol_of(writeup.protocols, *id));
  };
  EXPECT_EQ(sampler_of("Model/", {}).fixed_warm_up, 5);
  EXPECT_EQ(sampler_of("Model/", {}).fixed_samples, 10);
  EXPECT_FALSE(sampler_of("Model/", {}).verify_again);
  EXPECT_EQ(sampler_of("Attention/", {}).fixed_samples, 30);
  EXPECT_TRUE(sampler_of("Attention/", {}).verify_again);
  EXPECT_FALSE(sampler_of("Autocast/", {}).fixed_samples);
  Options own;
  own.fixed_samples = 3;
  own.verify_again = true;
  EXPECT_EQ(sampler_of("Model/", own).fixed_samples, 3);
  EXPECT_TRUE(sampler_of("Model/", own).verify_again);
}

TEST(StudyCases, RecordCountsThatAllCasesShare) {
  Options options;
  options.study = "writeup";
  const std::vector<FamilySpec> specs = specs_of(all_families({}));
  const auto recorded = [&](const std::string& filter) {
    options.filter = filter;
    const Selection selection = select_cases(specs, options, /*has_gpu=*/true);
    return recorded_options(options, selection, {Regime::kSustained}, /*on_gpu=*/true);
  };
  EXPECT_EQ(recorded("^Model/").at("samples"), "10");
  EXPECT_EQ(recorded("^Model/").at("verify"), "once");
  EXPECT_EQ(recorded(".").count("samples"), 0U);
  EXPECT_EQ(recorded(".").at("study"), "writeup");
}

}  // namespace
}  // namespace tbench::bench
