#include "html/svg_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "html/charts/charts.hpp"

namespace tbench::html {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

LineChart two_lines() {
  return {.title = "Time & size",
          .x = "ctx",
          .y = "ms",
          .ticks = {},
          .series = {{.name = "small", .colour = "var(--slot-1)", .points = {{.x = 128, .y = 1}, {.x = 256, .y = 2}}},
                     {.name = "xl", .colour = "var(--slot-2)", .points = {{.x = 128, .y = 3}, {.x = 256, .y = 4}}}}};
}

TEST(SvgFile, HasTitlePictureLegendAndItsOwnColours) {
  const std::string file = svg_file(line_chart(two_lines()));
  EXPECT_THAT(file, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"560\""));
  EXPECT_THAT(file, AllOf(HasSubstr("--slot-1: #"), HasSubstr(".point { fill: var(--series); }")));
  EXPECT_THAT(file, HasSubstr(">Time &amp; size</text>"));
  EXPECT_THAT(file, AllOf(HasSubstr(">small</text>"), HasSubstr(">xl</text>"), HasSubstr("class=\"point\"")));
  EXPECT_THAT(file, AllOf(Not(HasSubstr("<ul")), Not(HasSubstr("figure"))));
}

TEST(SvgFile, PutsThePicturesOfGroupsSideBySideInRows) {
  BarChart bars{.title = "t", .series = {{.name = "a", .colour = "var(--slot-1)"}}, .groups = {}};
  for (const char* name : {"g1", "g2", "g3", "g4", "g5", "g6"}) {
    bars.groups.push_back({.name = name, .bars = {{.value = 1, .label = "1"}}});
  }
  const std::string file = svg_file(bar_chart(bars));
  // A group is 46 + 170 + 6 wide: five fit into a row of 1,120.
  EXPECT_THAT(file, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1110\""));
  EXPECT_THAT(file, AllOf(HasSubstr("<svg x=\"0\" y=\"26\""), HasSubstr("<svg x=\"888\" y=\"26\""),
                          Not(HasSubstr("<svg x=\"1110\""))));
  for (const BarGroup& group : bars.groups) EXPECT_THAT(file, HasSubstr(">" + group.name + "</text>"));
  bars.groups.pop_back();
  EXPECT_LT(svg_file(bar_chart(bars)).size(), file.size());
}

TEST(SvgFile, NeedsAPicture) { EXPECT_THROW(static_cast<void>(svg_file("<figure></figure>")), std::invalid_argument); }

}  // namespace
}  // namespace tbench::html
