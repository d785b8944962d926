// Tests plain Google Benchmark JSON as a side of a comparison, and comparisons of such sides.
#include "compare/input/plain_side.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/compare/comparison.hpp"
#include "tbench/compare/comparison_output.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/durable_file.hpp"

namespace tbench::compare {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class PlainSide : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& context, const std::string& rows) {
    support::write_text(folder_.file(name), R"({"context": {)" + context + R"(}, "benchmarks": [)" + rows + "]}");
    return folder_.file(name);
  }
  ComparisonSide read(const std::string& context, const std::string& rows) {
    return read_side(write("a.json", context, rows));
  }
  std::string refused(const std::string& rows) {
    const std::string path = write("a.json", "", rows);
    try {
      static_cast<void>(read_side(path));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "read";
  }
  /// Compares two sides with three files per side. Every file has the rows `base` or the rows `next`.
  Comparison compared(const std::string& base, const std::string& next) {
    std::vector<std::string> paths;
    for (int i = 0; i < 6; ++i) paths.push_back(write(fmt::format("{}.json", i), context_, i < 3 ? base : next));
    std::vector<ComparisonSide> sides = read_sides(paths);
    const std::vector<ComparisonSide> new_sides(sides.begin() + 3, sides.end());
    sides.resize(3);
    return compare(merged(std::move(sides)), merged(new_sides), {});
  }
  static std::string outcomes(const Comparison& comparison) {
    std::string text;
    for (const CaseComparison& c : comparison.cases) {
      text += fmt::format("{} {}; ", c.id.name(), to_string(c.outcome.value()));
    }
    return text;
  }

  support::TemporaryFolder folder_;
  std::string context_ = R"("executable": "./my_bench", "num_cpus": 8, "host_name": "node")";
};

TEST_F(PlainSide, NumbersThatJsonDoesNotHaveAreNoReasonToRefuse) {
  const ComparisonSide side =
      read(R"("mhz_per_cpu": -nan)", R"({"name": "BM_ratio", "real_time": 5, "hits": NaN, "low": -Infinity},
                                                              {"name": "BM_nan", "real_time": NaN})");
  ASSERT_EQ(side.cases.size(), 2U);
  EXPECT_EQ(side.cases[0].replicates[0].time, Seconds{5e-9});
  EXPECT_EQ(side.cases[1].replicates[0].reason, "not comparable: time is not a finite number");
  EXPECT_THAT(refused(R"({"name": "BM", "real_time": NaN,,})"), HasSubstr("not JSON, at byte "));
}

TEST_F(PlainSide, ACounterMayHaveAnyName) {
  EXPECT_EQ(read("", R"({"name": "BM", "real_time": 5, "tbench": 3.5})").cases.size(), 1U);
}

TEST_F(PlainSide, SaysWhatIsUnknownAndWhatMakesTimesWorthLess) {
  EXPECT_THAT(read("", R"({"name": "a", "real_time": 1}, 5)").warnings,
              ElementsAre(HasSubstr("clocks, memory, work and verification are unknown"),
                          HasSubstr("skipped the entries of 'benchmarks' that are not objects")));
  EXPECT_THAT(read(R"("library_build_type": "debug", "cpu_scaling_enabled": true)", R"({"name": "a", "real_time": 1})")
                  .warnings,
              AllOf(Contains(HasSubstr("a debug build")), Contains(HasSubstr("scales its frequency"))));
}

TEST_F(PlainSide, RefusesWhatMeasuredNothing) {
  EXPECT_THAT(refused(""), AllOf(HasSubstr("a.json': no benchmark ran"), HasSubstr("check --benchmark_filter")));
  EXPECT_THAT(refused(R"({"name": "a_cv", "run_type": "aggregate", "aggregate_name": "cv", "real_time": 1})"),
              AllOf(HasSubstr("aggregates of repetitions alone"),
                    HasSubstr("without --benchmark_report_aggregates_only"), Not(HasSubstr("edited"))));
}

TEST_F(PlainSide, ComparesBenchmarksThatDifferInASuffix) {
  EXPECT_EQ(outcomes(compared(R"({"name": "BM/iterations:10/real_time", "real_time": 5})",
                              R"({"name": "BM/iterations:20/real_time", "real_time": 5})")),
            "BM SAME; ");
  const std::string process = R"({"name": "BM/process_time", "real_time": 5}, )";
  EXPECT_EQ(outcomes(compared(process + R"({"name": "BM/process_time/real_time", "real_time": 5})",
                              process + R"({"name": "BM/process_time/real_time", "real_time": 7.5})")),
            "BM/process_time SAME; BM/process_time/real_time REGRESSED; ");
}

TEST_F(PlainSide, ComparesWhatItCanAndNamesWhatItCannot) {
  const std::string rows = R"({"name": "BM_work", "real_time": 5}, {"name": "BM_empty", "real_time": 0})";
  const Comparison comparison = compared(rows, rows);
  EXPECT_EQ(outcomes(comparison), "BM_work SAME; BM_empty NOT_JUDGED; ");
  EXPECT_EQ(comparison.cases[1].note, "not comparable: time 0 ns");
  EXPECT_EQ(exit_status(comparison, false), kExitOk);
  EXPECT_EQ(exit_status(comparison, true), kExitUncertain);
}

TEST_F(PlainSide, TellsWhatContextsDifferIn) {
  const ComparisonSide base =
      read(R"("library_build_type": "debug", "cpu_scaling_enabled": true, "num_cpus": 8, "date": "a")",
           R"({"name": "a", "real_time": 1})");
  const ComparisonSide next =
      read(R"("library_build_type": "release", "cpu_scaling_enabled": false, "num_cpus": 8, "date": "b",
                                      "host_name": "x")",
           R"({"name": "a", "real_time": 1})");
  const Comparison comparison = compare(base, next, {});
  EXPECT_THAT(comparison.differences, ElementsAre("cpu_scaling_enabled: on against off", "host_name: absent against x",
                                                  "library_build_type: debug against release"));
  EXPECT_THAT(comparison_console(comparison, {}), AllOf(HasSubstr("8 CPUs and 8 CPUs (x); unknown builds"),
                                                        HasSubstr("also other: cpu_scaling_enabled: on against off;")));
  EXPECT_THAT(compare(base, base, {}).differences, IsEmpty());
  const ComparisonSide mixed = merged({base, next});
  EXPECT_THAT(compare(mixed, mixed, {}).differences,
              Contains("library_build_type: debug, release against debug, release"));
}

TEST_F(PlainSide, CommandsCallItsProgram) {
  const auto next_of = [&](const std::string& base, const std::string& next) {
    return comparison_conclusion(compared(base, next)).next;
  };
  const std::string steady = R"({"name": "BM/8/real_time/threads:2", "real_time": 5}, )";
  EXPECT_EQ(next_of(steady + R"({"name": "BM/9", "real_time": 5})", steady + R"({"name": "BM/9", "real_time": 7})"),
            "for i in 1 2 3 4 5; do (cd BASE && ./my_bench --benchmark_filter='^BM/9(/|$)' "
            "--benchmark_out=\"$OLDPWD/base$i.json\"); (cd NEW && ./my_bench --benchmark_filter='^BM/9(/|$)' "
            "--benchmark_out=\"$OLDPWD/new$i.json\"); done; tbench diff base?.json --to new?.json");
  EXPECT_EQ(
      next_of(
          steady + R"({"name": "BM/9", "real_time": 5})",
          R"({"name": "BM/8/threads:2", "real_time": 5, "error_occurred": true}, {"name": "BM/9", "real_time": 5})"),
      "./my_bench --benchmark_filter='^BM/8(/|$)'");
}

TEST_F(PlainSide, CommandsCallBothPrograms) {
  const std::string row = R"({"name": "BM", "real_time": 5})";
  const auto open = [](const ComparisonSide& base, const ComparisonSide& next) {
    return comparison_conclusion(compare(base, next, {})).next;
  };
  EXPECT_THAT(open(read(R"("executable": "./old bench")", row), read(R"("executable": "build/new")", row)),
              HasSubstr("do './old bench' --benchmark_out=base$i.json; build/new --benchmark_out=new$i.json; done"));
  EXPECT_THAT(open(read("", row), read("", row)), HasSubstr("(cd BASE && ./BENCHMARK --benchmark_out="));
}

/// Compares files of tests/data/plain with an expected output. TBENCH_UPDATE_GOLDEN=1 writes the expected output.
void expect_golden(const std::string& base, const std::string& next, const std::string& name) {
  const std::filesystem::path folder{TBENCH_TEST_DATA "/plain"};
  const std::vector<std::string> paths{base, next};
  const std::vector<ComparisonSide> sides = read_sides(paths, folder);
  const Comparison comparison = compare(sides[0], sides[1], {});
  std::string text;
  for (const std::string& warning : comparison.warnings) text += "warning: " + warning + "\n";
  text += comparison_console(comparison, {});
  const std::string path = (folder / name).string();
  if (std::getenv("TBENCH_UPDATE_GOLDEN") != nullptr) support::write_text(path, text);
  EXPECT_EQ(text, results::read_whole_file(path)) << name;
}

TEST(PlainFiles, AreComparedRowByRow) { expect_golden("base.json", "new.json", "new.txt"); }

TEST(PlainFiles, OfOldLibrariesAreComparedToo) { expect_golden("old.json", "base.json", "old.txt"); }

}  // namespace
}  // namespace tbench::compare
