#include "bench/cli/google_benchmark_flags.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Words = std::vector<std::string>;

std::string refusal_of(const std::string& word) {
  try {
    static_cast<void>(in_own_spelling({word}));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(GoogleBenchmarkFlags, AllAndAnEmptyFilterSelectEveryCase) {
  EXPECT_THAT(in_own_spelling({"--benchmark_filter=all"}), ElementsAre("--benchmark_filter=."));
  EXPECT_THAT(in_own_spelling({"--benchmark_filter="}), ElementsAre("--benchmark_filter=."));
  EXPECT_THAT(in_own_spelling({"--benchmark_filter", "all", "--tb_seed=1"}),
              ElementsAre("--benchmark_filter=.", "--tb_seed=1"));
  EXPECT_THAT(in_own_spelling({"--benchmark_filter=all_reduce"}), ElementsAre("--benchmark_filter=all_reduce"));
  EXPECT_THAT(in_own_spelling({"--benchmark_filter", "Gemm"}), ElementsAre("--benchmark_filter", "Gemm"));
}

TEST(GoogleBenchmarkFlags, AContextHasSeveralEntries) {
  EXPECT_THAT(in_own_spelling({"--benchmark_context=a=b,c=d"}),
              ElementsAre("--benchmark_context=a=b", "--benchmark_context=c=d"));
  EXPECT_THAT(in_own_spelling({"--benchmark_context=a=1,2,b=3"}),
              ElementsAre("--benchmark_context=a=1,2", "--benchmark_context=b=3"));
}

TEST(GoogleBenchmarkFlags, ColoursAreChosenInEverySpelling) {
  EXPECT_THAT(in_own_spelling({"--benchmark_color=yes", "--benchmark_color=0", "--benchmark_color=auto"}),
              ElementsAre("--benchmark_color=true", "--benchmark_color=false", "--benchmark_color=auto"));
}

TEST(GoogleBenchmarkFlags, WhatTheProgramDoesAnywayIsNoError) {
  EXPECT_THAT(in_own_spelling({"--benchmark_report_aggregates_only=false", "--benchmark_counters_tabular",
                               "--benchmark_counters_tabular=true", "--benchmark_time_unit=ms", "--v=0",
                               "--benchmark_enable_random_interleaving=no"}),
              IsEmpty());
}

TEST(GoogleBenchmarkFlags, WhatItCannotDoIsRefusedWithTheReason) {
  EXPECT_THAT(refusal_of("--benchmark_report_aggregates_only"), HasSubstr("every repetition"));
  EXPECT_THAT(refusal_of("--benchmark_time_unit=us"), HasSubstr("files are in ms"));
  EXPECT_THAT(refusal_of("--benchmark_counters_tabular=false"), HasSubstr("always a table"));
  EXPECT_THAT(refusal_of("--v=2"), HasSubstr("no debug log"));
}

TEST(GoogleBenchmarkFlags, HelpHasOneDashOrTwo) {
  EXPECT_THAT(in_own_spelling({"-help", "-h"}), ElementsAre("--help", "-h"));
}

}  // namespace
}  // namespace tbench::bench
