// Which waterfalls a study's table of rows gives.
#include "html/charts/study_waterfalls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tbench::html {
namespace {

using studies::StudyCell;
using studies::StudySection;
using studies::StudyStep;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

StudyCell text(const std::string& value) { return {.text = value}; }
StudyCell value(double value, const std::string& text) { return {.text = text, .value = value}; }

/// Two cases, and between them one that failed and one that nobody measured.
StudySection cases() {
  using enum render::Align;
  const auto row = [](const std::string& impl, const std::string& exec, const std::string& name, double ms,
                      const std::string& detail) {
    return std::vector<StudyCell>{text(impl),          text(exec),
                                  text(name),          value(ms, std::to_string(static_cast<int>(ms))),
                                  value(10 * ms, "x"), text(detail)};
  };
  return {.caption = "Model size:small. From the ceilings",
          .columns =
              {{"impl", kLeft}, {"exec", kLeft}, {"part", kLeft}, {"ms", kRight}, {"% of step", kRight}, {"of", kLeft}},
          .rows = {row("sdpa", "", "floor: products", 4, "1 TFLOP"),
                   row("sdpa", "", "idle", 6, ""),
                   row("sdpa", "", "= step", 10, "the most is lost to: idle"),
                   {text("flash"), {}, {}, text("OOM"), {}, {}},
                   {text("eager"), {}, {}, {.text = {}, .footnote = 1}, {}, {}},
                   row("sdpa", "graph", "floor: products", 4, "1 TFLOP"),
                   row("sdpa", "graph", "idle", -1, ""),
                   row("sdpa", "graph", "= step", 3, "")},
          .steps = {StudyStep::kFloor, StudyStep::kLoss, StudyStep::kSum, StudyStep::kNone, StudyStep::kNone,
                    StudyStep::kFloor, StudyStep::kLoss, StudyStep::kSum},
          .name_column = 2};
}

TEST(StudyWaterfalls, AreOneACase) {
  const std::vector<WaterfallChart> charts = study_waterfalls(cases());
  ASSERT_THAT(charts, SizeIs(2));
  EXPECT_EQ(charts[0].title, "sdpa");
  EXPECT_EQ(charts[1].title, "sdpa graph");
  EXPECT_EQ(charts[0].x, "ms");
  EXPECT_EQ(charts[0].note, "the most is lost to: idle");
  EXPECT_EQ(charts[1].note, "");
  ASSERT_THAT(charts[1].bars, SizeIs(3));
  EXPECT_EQ(charts[1].bars[1].name, "idle");
  EXPECT_EQ(charts[1].bars[1].step, StudyStep::kLoss);
  EXPECT_EQ(charts[1].bars[1].value, -1);
  EXPECT_THAT(charts[1].bars[1].labels, ElementsAre("-1 ms", "x %"));
  EXPECT_EQ(charts[0].bars[0].detail, "1 TFLOP");
}

TEST(StudyWaterfalls, OfOneCaseHaveAllOfItsName) {
  StudySection section = cases();
  for (auto& row : section.rows) row.erase(row.begin(), row.begin() + 2);
  section.rows.resize(3);
  section.steps.resize(3);
  section.columns.erase(section.columns.begin(), section.columns.begin() + 2);
  section.name_column = 0;
  const std::vector<WaterfallChart> charts = study_waterfalls(section);
  ASSERT_THAT(charts, SizeIs(1));
  EXPECT_EQ(charts[0].title, "Model size:small");
  EXPECT_THAT(charts[0].bars, SizeIs(3));
}

TEST(StudyWaterfalls, NeedSteps) {
  StudySection section = cases();
  section.steps.clear();
  EXPECT_THAT(study_waterfalls(section), IsEmpty());
}

}  // namespace
}  // namespace tbench::html
