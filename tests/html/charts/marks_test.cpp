#include "html/charts/marks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbench::html {
namespace {

using testing::HasSubstr;

TEST(NumberText, HasSixDigitsOrIsExact) {
  EXPECT_EQ(number_text(1.23456789), "1.23457");
  EXPECT_EQ(number_text(16777217), "16777217");
  EXPECT_EQ(number_text(0), "0");
}

TEST(PointAttributes, HaveWhatIsKnown) {
  const PointFacts facts{
      .record = 7, .unit = "ms", .interval = 0.5, .count = 20, .status = "ok", .note = "a \"b\" <c>"};
  EXPECT_EQ(point_attributes("128", "3.5", facts),
            " data-x=\"128\" data-y=\"3.5\" data-unit=\"ms\" data-interval=\"0.5\" data-n=\"20\" data-status=\"ok\""
            " data-case=\"7\" data-note=\"a &quot;b&quot; &lt;c&gt;\"");
  EXPECT_EQ(point_attributes("1", "", {}), " data-x=\"1\" data-y=\"\"");
}

TEST(ShapeAt, RepeatsAfterFive) {
  EXPECT_EQ(shape_at(0, 1, 2), shape_at(5, 1, 2));
  EXPECT_NE(shape_at(0, 1, 2), shape_at(1, 1, 2));
  EXPECT_THAT(cross_at(1, 2), HasSubstr("M1.0 2.0"));
}

TEST(ChartHead, IsEscaped) {
  EXPECT_THAT(chart_head("<a>", "b \"c\"", 10, 20),
              testing::AllOf(HasSubstr("<figcaption>&lt;a&gt;</figcaption>"), HasSubstr("viewBox=\"0 0 10 20\""),
                             HasSubstr("aria-label=\"b &quot;c&quot;\"")));
  EXPECT_THAT(legend_entry("var(--slot-1)", "<rect/>", "a & b"), HasSubstr("<rect/></svg>a &amp; b</li>"));
}

}  // namespace
}  // namespace tbench::html
