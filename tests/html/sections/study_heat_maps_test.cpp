// Tests which columns of a section become heat maps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "html/sections/section_figures.hpp"

namespace tbench::html {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using studies::StudyCell;
using studies::StudySection;

StudyCell text(const std::string& value) { return {.text = value}; }
StudyCell value(double value) { return {.text = std::to_string(value), .value = value}; }

/// Returns two widths and two lengths with a time and a comparison.
/// @param comparison  header of the last column
StudySection grid(const std::string& comparison) {
  using enum render::Align;
  return {.caption = "Attention. a",
          .columns = {{"d_model", kLeft}, {"seq_len", kLeft}, {"impl:flash ms", kRight}, {comparison, kRight}},
          .rows = {{text("16"), text("128"), value(1), value(4)},
                   {text("16"), text("256"), value(2), value(2)},
                   {text("32"), text("128"), value(3), value(0.5)},
                   {text("32"), text("256"), value(4), {}}}};
}

TEST(StudyHeatMaps, ShowSpeedUpsByWidthAndLength) {
  const std::vector<HeatMap> maps = study_heat_maps(grid("impl:flash forward speed-up"));
  ASSERT_THAT(maps, SizeIs(1)) << "times have none";
  EXPECT_EQ(maps[0].title, "flash forward speed-up");
  EXPECT_EQ(maps[0].y, "d_model");
  EXPECT_EQ(maps[0].x, "seq_len");
  EXPECT_THAT(maps[0].rows, ElementsAre("16", "32"));
  EXPECT_THAT(maps[0].columns, ElementsAre("128", "256"));
  EXPECT_EQ(maps[0].cells[0][0].gain, std::log(4.0));
  EXPECT_EQ(maps[0].cells[0][0].label, "4.000000");
  EXPECT_LT(maps[0].cells[1][0].gain, 0);
  EXPECT_FALSE(maps[0].cells[1][1].gain);
  EXPECT_EQ(maps[0].better, "faster than the base");
}

TEST(StudyHeatMaps, AChangeBelow0IsAGain) {
  StudySection section = grid("precision:tf32 change %");
  section.rows[0][3] = value(-50);
  section.rows[1][3] = value(100);
  section.rows[2][3] = value(-100);  // of no time: no ratio
  section.rows[3][3] = value(0);
  const std::vector<HeatMap> maps = study_heat_maps(section);
  ASSERT_THAT(maps, SizeIs(1));
  EXPECT_EQ(maps[0].cells[0][0].gain, -std::log(0.5));
  EXPECT_EQ(maps[0].cells[0][1].gain, -std::log(2.0));
  EXPECT_FALSE(maps[0].cells[1][0].gain);
  EXPECT_EQ(maps[0].cells[1][1].gain, 0);
}

TEST(StudyHeatMaps, OtherKeysDivideThem) {
  StudySection section = grid("impl:flash speed-up");
  section.columns.insert(section.columns.begin() + 2, {"precision", render::Align::kLeft});
  std::vector<std::vector<StudyCell>> rows;
  for (const char* precision : {"bf16", "fp32"}) {
    for (auto row : section.rows) {
      row.insert(row.begin() + 2, text(precision));
      rows.push_back(row);
    }
  }
  section.rows = rows;
  const std::vector<HeatMap> maps = study_heat_maps(section);
  ASSERT_THAT(maps, SizeIs(2));
  EXPECT_EQ(maps[0].title, "bf16 flash speed-up");
  EXPECT_EQ(maps[1].title, "fp32 flash speed-up");
}

TEST(StudyHeatMaps, NeedTwoAxesAndOneRowAPlace) {
  EXPECT_THAT(study_heat_maps(grid("std ms")), IsEmpty());
  EXPECT_THAT(study_heat_maps(grid("change pp")), IsEmpty()) << "points are not ratios";
  StudySection one_width = grid("speed-up");
  one_width.rows.resize(2);
  EXPECT_THAT(study_heat_maps(one_width), IsEmpty());
  StudySection no_length = grid("speed-up");
  no_length.columns[1].header = "pass";
  EXPECT_THAT(study_heat_maps(no_length), IsEmpty());
  StudySection twice = grid("speed-up");
  twice.rows.push_back(twice.rows[0]);
  EXPECT_THAT(study_heat_maps(twice), IsEmpty());
}

TEST(ReportFigures, AreNotRepeated) {
  StudySection section = grid("speed-up");
  studies::StudyReport report;
  report.sections = {section, section};
  const std::vector<SectionFigures> figures = report_figures(report);
  ASSERT_THAT(figures, SizeIs(2));
  EXPECT_THAT(figures[0].figures, SizeIs(2)) << "lines and a map";
  EXPECT_THAT(figures[1].figures, IsEmpty());
}

}  // namespace
}  // namespace tbench::html
