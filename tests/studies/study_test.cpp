#include "tbench/studies/study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"

namespace tbench::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Study, EveryOneHasANameOfItsOwnCasesAndATable) {
  std::set<std::string> names;
  for (const Study& study : all_studies()) {
    EXPECT_TRUE(names.insert(study.name).second) << study.name;
    EXPECT_FALSE(study.title.empty()) << study.name;
    const Study of_two = with_open_axes(study, [](const auto&, const auto&) { return std::vector<std::string>{"2"}; });
    EXPECT_FALSE(cells_of(of_two.grids, {}).empty()) << study.name;
    ASSERT_FALSE(study.tables.empty() && study.row_tables.empty()) << study.name;
    for (const StudyRowTable& table : study.row_tables) {
      EXPECT_FALSE(table.quantities.empty()) << study.name;
      // Rows of `memory` come from the memory pass, of `phases` from the timing, and of `ddp` from other cases.
      const bool is_of_traces = study.name != "memory" && study.name != "phases" && study.name != "ddp";
      EXPECT_EQ(study.protocol.needs_trace, is_of_traces) << study.name << ": rows are of kernels or ranges";
    }
    for (const StudyTable& table : study.tables) {
      EXPECT_FALSE(table.columns.empty()) << study.name;
      EXPECT_EQ(table.fit.has_value() && table.spread.size() != 1, false) << study.name << ": a fit is over one key";
      for (const StudyColumn& column : table.columns) {
        if (!column.only_of) continue;
        EXPECT_NE(std::ranges::find(table.spread, column.only_of->first), table.spread.end()) << study.name;
        EXPECT_FALSE(table.fit.has_value()) << study.name << ": a fit is of a quantity that all cases have";
      }
      if (!table.speed_up) continue;
      EXPECT_FALSE(table.speed_up->base.empty()) << study.name;
      for (const auto& [key, value] : table.speed_up->base) {
        EXPECT_NE(std::ranges::find(table.spread, key), table.spread.end()) << study.name;
      }
    }
  }
  EXPECT_THAT(study_names(), ::testing::IsSupersetOf({"end_to_end", "warmup", "precision", "memory", "scaling",
                                                      "attention_grid", "tf32", "flash"}));
}

TEST(Study, GridsAreThoseOfTheWriteUps) {
  const auto count = [](const char* name) { return cells_of(find_study(name, "--study").grids, {}).size(); };
  EXPECT_EQ(count("collectives"), 0U);             // a run without ranks has none
  EXPECT_EQ(count("end_to_end"), 5U * 5 * 3 * 4);  // sizes, contexts, passes, precisions
  EXPECT_EQ(count("precision"), 5U * 4 * 2 * 4);
  EXPECT_EQ(count("memory"), 5U * 5 * 3 * 2);
  EXPECT_EQ(count("scaling"), 5U * 4 * 3 * 2);
  EXPECT_EQ(count("autocast"), 2U * 2);  // subjects, dtypes
  // Sums of 0.01: seven of a thousand terms, four of 10,000, one of 100,000. Sums and products: by order and length.
  EXPECT_EQ(count("accumulation"), 12U + 12 * 3 + 7 * 3 + 7 * 5);
  EXPECT_EQ(count("warmup"), 5U * 3 * 2 * 5);          // sizes, passes, counts of timed steps, of warm-up steps
  EXPECT_EQ(count("attention_grid"), 6U * 7 * 2 * 3);  // widths, lengths, passes, implementations
  EXPECT_EQ(count("tf32"), 6U * 7 * 2 * 2 * 2);        // widths, lengths, passes, precisions, implementations
  EXPECT_EQ(count("flash"), 4U * 10 * 2 * 2 * 2);      // head dimensions, lengths, passes, precisions, implementations
}

TEST(Study, OptionalUnknownValuesAreLeftOut) {
  const Study study{.name = "s",
                    .title = "t",
                    .grids = {{"A", {{"impl", {"x", "new", "y"}}}}, {"B", {{"impl", {"new"}}}}},
                    .protocol = {},
                    .tables = {},
                    .if_known = {{"A", {"impl", {"new", "newer"}}}}};
  std::vector<std::string> asked;
  const auto answer = [&](bool is_known) {
    return [&asked, is_known](const std::string& family, const CaseId::Parameter& value) {
      asked.push_back(family + "." + value.first + "=" + value.second);
      return is_known;
    };
  };
  const Study without = with_known_values(study, answer(false));
  EXPECT_THAT(without.grids[0].axes[0].values, ElementsAre("x", "y"));
  EXPECT_THAT(without.grids[1].axes[0].values, ElementsAre("new"));  // a value that only another family has
  EXPECT_THAT(asked, ElementsAre("A.impl=new", "A.impl=newer"));
  EXPECT_THAT(with_known_values(study, answer(true)).grids[0].axes[0].values, ElementsAre("x", "new", "y"));
}

TEST(Study, AnOpenAxisGetsItsValuesFromTheRun) {
  const Study study{.name = "s",
                    .title = "t",
                    .grids = {{"A", {{"op", {"x"}}, {"gpus", {}}}}, {"B", {{"gpus", {}}}}},
                    .protocol = {},
                    .tables = {}};
  const Study filled = with_open_axes(study, [](const std::string& family, const std::string& key) {
    return std::vector<std::string>{family + "." + key};
  });
  EXPECT_THAT(filled.grids[0].axes[0].values, ElementsAre("x"));
  EXPECT_THAT(filled.grids[0].axes[1].values, ElementsAre("A.gpus"));
  EXPECT_THAT(filled.grids[1].axes[0].values, ElementsAre("B.gpus"));
}

TEST(Study, AnUnknownNameGetsTheNearest) {
  try {
    static_cast<void>(find_study("end-to-end", "--study"));
    FAIL() << "found a study that there is not";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--study=end-to-end: no such study; did you mean 'end_to_end'?"));
  }
}

TEST(Study, TheUsersSizesJoinEveryAxisOfSizes) {
  const Study study{.name = "s",
                    .title = "t",
                    .grids = {{"Model", {{"size", {"small"}}, {"ctx", {"8"}}}}, {"Gemm", {{"m", {"64"}}}}},
                    .protocol = {},
                    .tables = {}};
  const ModelSize mine{"mine", 64, 256, 2, 4};
  const auto grids = grids_with_sizes(study, std::vector{mine});
  EXPECT_THAT(grids[0].axes[0].values, ElementsAre("small", "mine"));
  EXPECT_THAT(grids[1].axes[0].values, ElementsAre("64"));
}

TEST(Study, ColumnsShowWhatARecordTells) {
  Record record = support::timed_record(support::model_id("train_step", "eager"), Seconds{0.5});
  record.timing->mean = Seconds{0.25};
  record.work = Work{.flop = {1e12}, .tokens = 600'000};
  record.memory = MemoryUse{.allocated_peak = std::int64_t{3} << 30,
                            .requested_peak = {},
                            .reserved_peak = std::int64_t{4} << 30,
                            .device_used = {},
                            .split = {{"parameters", std::int64_t{512} << 20},
                                      {"backward_temporaries", std::int64_t{4} << 20},
                                      {"optimizer_temporaries", std::int64_t{16} << 20}}};
  const auto shown = [&](const char* study) {
    std::vector<std::string> texts;
    for (const StudyColumn& column : find_study(study, "--study").tables.front().columns) {
      const auto value = column.value(record);
      texts.push_back(column.header + "=" + (value ? column.format(*value) : "nothing"));
    }
    return texts;
  };
  EXPECT_THAT(shown("end_to_end"),
              ElementsAre("mean ms=250.0", "std ms=5.000", "GPU ms=nothing", "tokens/s=2,400,000",
                          "allocated MiB=3,072", "reserved MiB=4,096", "forward ms=nothing", "backward ms=nothing",
                          "optimizer ms=nothing", "backward / forward=nothing", "step - phases ms=nothing"));
  EXPECT_THAT(shown("memory"),
              ElementsAre("allocated MiB=3,072", "reserved MiB=4,096", "parameters MiB=512", "gradients MiB=nothing",
                          "optimizer MiB=nothing", "casts MiB=nothing", "activations MiB=nothing", "temporaries MiB=20",
                          "rest MiB=nothing", "median ms=500.0", "tokens/s=1,200,000"));
}

TEST(Study, PhasesAreHeldAgainstEachOtherAndTheStep) {
  Record record = support::full_record();  // 25.312 ms: 8, 13.5 and 3.5
  const auto shown = [&](const char* study, std::size_t table, const std::string& header) {
    const auto& columns = find_study(study, "").tables.at(table).columns;
    const auto column = std::ranges::find(columns, header, &StudyColumn::header);
    const std::optional<double> value = column->value(record);
    return value ? column->format(*value) : "nothing";
  };
  EXPECT_EQ(shown("end_to_end", 0, "backward / forward"), "1.688");
  EXPECT_EQ(shown("end_to_end", 0, "step - phases ms"), "0.3120");
  EXPECT_EQ(shown("scaling", 2, "x"), "1.688");
  record.timing->phases.erase(record.timing->phases.begin());
  EXPECT_EQ(shown("scaling", 2, "x"), "nothing");
}

TEST(Study, TheSumsAreShownWithAllTheirDigitsAndTheDtypesAsTheyAre) {
  Record record = support::full_record();
  record.counters = {{"result", 10.000133514404297}, {"relative_error", 1.3351440429690361e-05}};
  record.labels = {{"layer norm", "bf16+fp32 -> bf16"}};
  const StudyTable& sums = find_study("accumulation", "").tables[0];
  EXPECT_EQ(sums.columns[0].format(sums.columns[0].value(record).value()), "10.000133514404297");
  EXPECT_EQ(sums.columns[1].format(sums.columns[1].value(record).value()), "1.34e-05");
  const StudyTable& toy = find_study("autocast", "").tables[0];
  const auto column = std::ranges::find(toy.columns, "layer norm", &StudyColumn::header);
  ASSERT_NE(column, toy.columns.end());
  EXPECT_EQ(column->text(record), "bf16+fp32 -> bf16");
  record.labels.clear();
  EXPECT_FALSE(column->text(record).has_value());
}

TEST(Study, TheFirstStepIsThatOfTheWarmUpOrTheFirstTimedOne) {
  const StudyColumn& first = find_study("warmup", "").tables[0].columns.at(5);
  Record record = support::full_record();
  record.timing->warm_up.first = Seconds{0.125};
  record.timing->samples_s = {0.5, 0.25};
  EXPECT_EQ(first.value(record), 125.0);
  record.timing->warm_up.first.reset();
  EXPECT_EQ(first.value(record), 500.0);
  record.timing.reset();
  EXPECT_FALSE(first.value(record).has_value());
}

}  // namespace
}  // namespace tbench::studies
