// Tests the waterfall from the ceilings to the step. The step is the traced step of kernel_study_samples.hpp. The
// ceilings are chosen so that the floors are round numbers of milliseconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel_study_samples.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench::studies {
namespace {

using testing::HasSubstr;

constexpr double kProductsMs = 6;
constexpr double kOptimizerMs = 2;

StepFloor floor_of_step() {
  return model_step_floor(course_model_sizes().front(), 512, 4, Pass::kTrainStep, Precision::kBf16);
}

Record with_ceiling(Record record) {
  const StepFloor floor = floor_of_step();
  record.ceiling_per_second = (floor.products.value + floor.attention.value) / (kProductsMs * kMs);
  return record;
}

/// Returns a copy ceiling at which the optimizer's bytes take 2 ms.
Record copy_ceiling() {
  Record record = support::timed_record({"Ceiling", {{"what", "copy"}, {"regime", "burst"}}}, Seconds{1 * kMs});
  record.work = Work{.bytes = floor_of_step().optimizer_bytes / 2};
  record.trace = StepTrace{};
  return record;
}

/// Returns the row for a part of the training step, without the names of the case.
std::vector<StudyCell> cells_of(const StudySection& section, const std::string& part) {
  for (const auto& row : section.rows) {
    for (std::size_t i = 0; i + 2 < row.size(); ++i) {
      if (row[i].text == part) return {row.begin() + static_cast<std::ptrdiff_t>(i), row.end()};
    }
  }
  ADD_FAILURE() << "no row " << part;
  return std::vector<StudyCell>(4);
}

double ms_of(const StudySection& section, const std::string& part) {
  return cells_of(section, part)[1].value.value_or(-1);
}

TEST(Waterfall, GoesFromTheCeilingsToTheStep) {
  const StudyReport report = report_of("waterfall", {copy_ceiling(), with_ceiling(trained())});
  ASSERT_EQ(report.sections.size(), 2U);
  const StudySection& table = report.sections[1];
  const double other = static_cast<double>(floor_of_step().other_bytes) /
                       static_cast<double>(floor_of_step().optimizer_bytes) * kOptimizerMs;
  EXPECT_NEAR(ms_of(table, "floor: matrix products, attention's too"), 6, 1e-9);
  EXPECT_NEAR(ms_of(table, "floor: optimizer"), 2, 1e-9);
  EXPECT_NEAR(ms_of(table, "floor: all other work"), other, 1e-9);
  EXPECT_NEAR(ms_of(table, "= floor"), 8 + other, 1e-9);
  EXPECT_NEAR(ms_of(table, "matrix products, attention's too beyond it"), 7.5 - 6, 1e-9);
  EXPECT_NEAR(ms_of(table, "optimizer beyond it"), 1, 1e-9);
  EXPECT_NEAR(ms_of(table, "all other work beyond it"), 5.5 - other, 1e-9);
  EXPECT_EQ(cells_of(table, "all other work beyond it")[3].text,
            "softmax_backward 4.000 ms, softmax_forward 0.8000 ms, elementwise 0.5000 ms, memcpy 0.2000 ms");
  EXPECT_NEAR(ms_of(table, "= device"), 16, 1e-9);
  EXPECT_NEAR(ms_of(table, "GPU idle"), 4, 1e-9);
  EXPECT_NEAR(ms_of(table, "= step"), 20, 1e-9);
  EXPECT_THAT(cells_of(table, "= step")[3].text, HasSubstr("the most is lost to: GPU idle (4.000 ms)"));
  double sum = 0;
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      const bool is_part = row[i].text.starts_with("floor") || row[i].text.ends_with("beyond it");
      if (is_part || row[i].text == "GPU idle") sum += row[i + 1].value.value();
    }
  }
  EXPECT_NEAR(sum, 20, 1e-9);
}

TEST(Waterfall, RowsSayWhatTheyAreInAChart) {
  const StudyReport report = report_of("waterfall", {copy_ceiling(), with_ceiling(trained())});
  EXPECT_THAT(report.sections[0].steps, testing::IsEmpty());
  const StudySection& table = report.sections[1];
  ASSERT_EQ(table.steps.size(), table.rows.size());
  EXPECT_EQ(table.columns[table.name_column].header, "part");
  std::string sums;
  double end = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.steps[i] == StudyStep::kNone) continue;
    const std::string& name = table.rows[i][table.name_column].text;
    const double length = table.rows[i][table.name_column + 1].value.value();
    EXPECT_EQ(table.steps[i] == StudyStep::kFloor, name.starts_with("floor: ")) << name;
    if (table.steps[i] == StudyStep::kSum) {
      EXPECT_NEAR(length, end, 1e-9) << name;
      sums += name;
    }
    end = table.steps[i] == StudyStep::kSum ? length : end + length;
  }
  EXPECT_EQ(sums, "= floor= device= step");
}

TEST(Waterfall, FindsTheCopyThatAFilterLeavesOut) {
  const results::NamedResults file = support::gpu_results({copy_ceiling(), with_ceiling(trained())});
  const StudyReport report = study_report(find_study("waterfall", "--study"), std::vector{file},
                                          {.axes = {}, .filter = "small/.*train_step.*impl:eager$"});
  ASSERT_EQ(report.sections.size(), 1U);
  EXPECT_NEAR(ms_of(report.sections[0], "= step"), 20, 1e-9);
}

TEST(Waterfall, KernelsSideBySideAreCountedOnce) {
  Record record = with_ceiling(trained());
  record.trace->device = {15 * kMs};
  const StudyReport report = report_of("waterfall", {copy_ceiling(), record});
  EXPECT_NEAR(ms_of(report.sections[1], "kernels side by side"), -1, 1e-9);
  EXPECT_NEAR(ms_of(report.sections[1], "GPU idle"), 5, 1e-9);
}

TEST(Waterfall, KernelsOfAPhaseShareTheTimeInWhichAnyOfThemRuns) {
  Record record = with_ceiling(trained());
  TracedRange& backward = record.trace->ranges.emplace_back();
  backward.path = "BACKWARD";
  backward.gpu_sum = {8 * kMs};
  backward.gpu_busy = {6 * kMs};
  record.trace->device = {14 * kMs};
  const StudyReport report = report_of("waterfall", {copy_ceiling(), record});
  const double products = 4 + 3.5 * 6 / 8;
  EXPECT_NEAR(ms_of(report.sections[1], "matrix products, attention's too beyond it"), products - kProductsMs, 1e-9);
  EXPECT_NEAR(ms_of(report.sections[1], "optimizer beyond it"), 3 - kOptimizerMs, 1e-9);
  EXPECT_THAT(rows(report.sections[1]), testing::Not(testing::Contains(HasSubstr("kernels side by side"))));
}

TEST(Waterfall, FusedAttentionHasAFloorOfItsOwn) {
  Record record = with_ceiling(trained());
  record.trace->kernels.push_back(kernel("forward", "attention_fused", "flash_fwd", 12, 1));
  const StudyReport report = report_of("waterfall", {copy_ceiling(), record});
  const double rate = *record.ceiling_per_second;
  EXPECT_NEAR(ms_of(report.sections[1], "floor: attention"), floor_of_step().attention.value / rate / kMs, 1e-9);
  EXPECT_NEAR(ms_of(report.sections[1], "attention beyond it"), 1 - floor_of_step().attention.value / rate / kMs, 1e-9);
}

TEST(Waterfall, SaysWhichCeilingIsMissing) {
  const auto text_of = [](std::vector<Record> records) {
    const StudyReport report = report_of("waterfall", std::move(records));
    std::string all;
    for (const std::string& row : rows(report.sections.back())) all += row + "\n";
    return all;
  };
  EXPECT_THAT(text_of({copy_ceiling(), trained()}),
              HasSubstr("train_step|eager||unknown|||not in these files: the ceiling of its products"));
  EXPECT_THAT(text_of({with_ceiling(trained())}),
              HasSubstr("train_step|eager||unknown|||not in these files: Ceiling/what:copy/regime:burst"));
}

}  // namespace
}  // namespace tbench::studies
