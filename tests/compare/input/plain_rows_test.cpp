#include "compare/input/plain_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tbench::compare {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// @param rows  elements of a JSON array
PlainCases cases_of(const std::string& rows) {
  PlainRows plain;
  std::size_t index = 0;
  for (const results::Json& row : results::Json::parse("[" + rows + "]")) {
    plain.add(row, fmt::format("benchmarks[{}]", index++));
  }
  return std::move(plain).cases();
}

/// Returns `NAME: times in ns` of each case, or the reason if it has no time.
std::vector<std::string> told(const PlainCases& found) {
  std::vector<std::string> texts;
  for (const results::MeasuredCase& c : found.cases) {
    std::string text = c.id.name() + ":";
    for (const results::Replicate& replicate : c.replicates) {
      text += replicate.time ? fmt::format(" {:.6g}", 1e9 * replicate.time->value)
                             : fmt::format(" {} ({})", to_string(replicate.status), replicate.reason);
    }
    texts.push_back(text);
  }
  return texts;
}

TEST(PlainRows, AnOddRowIsNotComparable) {
  const PlainCases found = cases_of(
      R"({"name": "BM_work/64", "real_time": 5, "time_unit": "us"}, {"name": "BM_empty", "real_time": 0.0},
         {"name": "BM_nan", "real_time": "a"}, {"name": "BM_null", "real_time": null},
         {"name": "BM_hours", "real_time": 1, "time_unit": "h"}, {"name": "BM_none"}, {"real_time": 3},
         {"name": "BM_minus", "real_time": -1, "time_unit": "ms"}, {"name": 7, "real_time": 1})");
  EXPECT_THAT(told(found), ElementsAre("BM_work/64: 5000", "BM_empty: unsupported (not comparable: time 0 ns)",
                                       "BM_nan: unsupported (not comparable: time is not a finite number)",
                                       "BM_null: unsupported (not comparable: time is not a finite number)",
                                       "BM_hours: unsupported (not comparable: unknown time unit 'h')",
                                       "BM_none: unsupported (not comparable: neither a time nor an error)",
                                       "benchmarks[6]: unsupported (not comparable: no name)",
                                       "BM_minus: unsupported (not comparable: time -1 ms)",
                                       "benchmarks[8]: unsupported (not comparable: no name)"));
  EXPECT_THAT(found.warnings, ElementsAre("BM_empty: not comparable: time 0 ns; so are 7 more"));
  EXPECT_THAT(told(cases_of(R"({"name": ")" + std::string(1025, 'x') + R"(", "real_time": 1})")),
              ElementsAre("benchmarks[0]: unsupported (not comparable: name of 1025 bytes, of at most 1024)"));
}

TEST(PlainRows, ErrorsAndSkipsAreNoTimes) {
  EXPECT_THAT(told(cases_of(
                  R"({"name": "BM_bad", "real_time": 0, "error_occurred": true, "error_message": "no device"},
                     {"name": "BM_off", "real_time": 0, "skipped": true, "skip_message": "no AVX"})")),
              ElementsAre("BM_bad: crashed (no device)", "BM_off: unsupported (no AVX)"));
}

TEST(PlainRows, AggregatesOfMeasurementsAreLeftOut) {
  EXPECT_THAT(told(cases_of(
                  R"({"name": "BM/8", "run_name": "BM/8", "run_type": "iteration", "real_time": 5},
                     {"name": "BM/8_mean", "run_name": "BM/8", "run_type": "aggregate", "aggregate_name": "mean",
                      "real_time": 1},
                     {"name": "BM_BigO", "run_name": "BM", "run_type": "aggregate", "aggregate_name": "BigO",
                      "cpu_coefficient": 1, "real_coefficient": 1, "big_o": "N", "time_unit": "ns"},
                     {"name": "BM_RMS", "run_name": "BM", "run_type": "aggregate", "aggregate_name": "RMS", "rms": 0.1})")),
              ElementsAre("BM/8: 5"));
}

TEST(PlainRows, OfOldLibrariesAreAggregatesByTheirNames) {
  EXPECT_THAT(told(cases_of(R"({"name": "BM_sort/8", "real_time": 4}, {"name": "BM_sort/8", "real_time": 5},
                               {"name": "BM_sort/8_mean", "real_time": 4.5}, {"name": "BM_sort/8_median", "real_time": 4},
                               {"name": "BM_sort/8_stddev", "real_time": 0.7}, {"name": "BM_sort/8_cv", "real_time": 0.1},
                               {"name": "BM_sort_BigO", "cpu_coefficient": 1, "big_o": "N", "time_unit": "ns"},
                               {"name": "BM_sort_RMS", "rms": 0.1})")),
              ElementsAre("BM_sort/8: 4 5"));
  EXPECT_THAT(told(cases_of(R"({"name": "BM_mean", "real_time": 4}, {"name": "BM_median", "real_time": 5},
                               {"name": "BM_RMS", "real_time": 6}, {"name": "_mean", "real_time": 7})")),
              ElementsAre("BM_mean: 4", "BM_median: 5", "BM_RMS: 6", "_mean: 7"))
      << "benchmarks of a library of statistics";
  EXPECT_THAT(told(cases_of(R"({"name": "BM_mean", "run_type": "iteration", "real_time": 4},
                               {"name": "BM", "run_type": "iteration", "real_time": 5})")),
              ElementsAre("BM_mean: 4", "BM: 5"))
      << "the library says what they are";
}

TEST(PlainRows, AggregatesAloneAreOneReplicate) {
  const std::string rows =
      R"({"name": "BM_x/8_mean", "run_name": "BM_x/8", "run_type": "aggregate", "repetitions": 3,
          "aggregate_name": "mean", "real_time": 99},
         {"name": "BM_x/8_median", "run_name": "BM_x/8", "run_type": "aggregate", "repetitions": 3,
          "aggregate_name": "median", "real_time": 100},
         {"name": "BM_x/8_stddev", "run_name": "BM_x/8", "run_type": "aggregate", "repetitions": 3,
          "aggregate_name": "stddev", "real_time": 2},
         {"name": "BM_y_mean", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 7},
         {"name": "BM_z_stddev", "run_type": "aggregate", "aggregate_name": "stddev", "real_time": 7})";
  const PlainCases found = cases_of(rows);
  EXPECT_THAT(told(found), ElementsAre("BM_x/8: 100", "BM_y: 7"));
  // 4.30265 is Student's t for two degrees of freedom.
  EXPECT_NEAR(found.cases[0].replicates[0].relative_half_width.value(), 4.30265 * 0.02 / std::sqrt(3), 1e-6);
  EXPECT_FALSE(found.cases[1].replicates[0].relative_half_width.has_value());
  EXPECT_THAT(found.warnings, ElementsAre(AllOf(HasSubstr("BM_x/8 and 1 more have aggregates"),
                                                HasSubstr("without --benchmark_report_aggregates_only"))));
  EXPECT_THAT(told(cases_of(R"({"name": "BM_mean", "real_time": 4}, {"name": "BM_median", "real_time": 5},
                               {"name": "BM_stddev", "real_time": 1})")),
              ElementsAre("BM: 5"))
      << "of an old library";
}

TEST(PlainRows, OfOneNameAreRepetitionsOrSeveralBenchmarks) {
  const auto row = [](const std::string& more, int time) {
    return fmt::format(R"({{"name": "BM", "real_time": {}{}}})", time, more);
  };
  const auto of_family = [&](int family, int repetition, int time) {
    return row(fmt::format(R"(, "family_index": {}, "per_family_instance_index": 0, "repetition_index": {})", family,
                           repetition),
               time);
  };
  const auto of_repetition = [&](int repetition, int time) {
    return row(fmt::format(R"(, "repetition_index": {})", repetition), time);
  };
  const std::string other = R"({"name": "other", "real_time": 9})";
  const auto cases = [&](const std::vector<std::string>& rows) {
    return told(cases_of(fmt::format("{}", fmt::join(rows, ","))));
  };
  EXPECT_THAT(cases({of_family(0, 0, 1), of_family(1, 0, 5), of_family(0, 1, 2), of_family(1, 1, 6)}),
              ElementsAre("BM: 1 2", "BM#2: 5 6"))
      << "their repetitions were interleaved";
  EXPECT_THAT(cases({of_repetition(0, 1), of_repetition(1, 2), of_repetition(0, 5), of_repetition(1, 6)}),
              ElementsAre("BM: 1 2", "BM#2: 5 6"));
  EXPECT_THAT(cases({row("", 1), row("", 2), other, row("", 5)}), ElementsAre("BM: 1 2", "other: 9", "BM#2: 5"));
  EXPECT_THAT(cases_of(of_family(0, 0, 1) + "," + of_family(1, 0, 5)).warnings,
              ElementsAre(HasSubstr("BM is the name of several benchmarks")));
  EXPECT_THAT(cases_of(of_repetition(0, 1) + "," + of_repetition(1, 5)).warnings, IsEmpty());
}

}  // namespace
}  // namespace tbench::compare
