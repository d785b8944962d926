// Which kind of charts a section has.
#include "html/charts/section_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tbench::html {
namespace {

using studies::StudyCell;
using studies::StudySection;
using studies::StudyStep;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

StudyCell text(const std::string& value) { return {.text = value}; }
StudyCell value(double value) { return {.text = std::to_string(value), .value = value}; }

StudySection by_size() {
  return {.caption = "Model. a",
          .columns = {{"size", render::Align::kLeft}, {"impl:sdpa ms", render::Align::kRight}},
          .rows = {{text("small"), value(1)}, {text("medium"), value(2)}}};
}

TEST(SectionFigures, AreLinesUnlessTheTableHasBars) {
  StudySection section = by_size();
  EXPECT_THAT(section_figures(section).figures, ElementsAre(HasSubstr("class=\"line\"")));
  section.has_bars = true;
  EXPECT_THAT(section_figures(section).figures, ElementsAre(HasSubstr("class=\"bar\"")));
  section.rows.clear();
  EXPECT_THAT(section_figures(section).figures, IsEmpty());
}

TEST(SectionFigures, AreWaterfallsWhereRowsAreSteps) {
  StudySection section = by_size();
  section.steps = {StudyStep::kFloor, StudyStep::kSum};
  EXPECT_THAT(section_figures(section).figures,
              ElementsAre(AllOf(HasSubstr("class=\"waterfall\""), HasSubstr("class=\"floor\""), HasSubstr("\"sum\""))));
}

TEST(SectionFigures, OfTooManySomeAreLeftOut) {
  StudySection section = by_size();
  section.has_bars = true;
  section.columns.insert(section.columns.begin() + 1, {"pass", render::Align::kLeft});
  section.rows.clear();
  for (int i = 0; i < 15; ++i) section.rows.push_back({text("small"), text("pass" + std::to_string(i)), value(1)});
  const SectionFigures bars = section_figures(section);
  EXPECT_THAT(bars.figures, SizeIs(12));
  EXPECT_EQ(bars.left_out, 3U);
}

}  // namespace
}  // namespace tbench::html
