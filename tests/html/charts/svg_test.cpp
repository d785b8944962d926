#include "html/charts/charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace tbench::html {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

TEST(Svg, TextsAreEscaped) {
  EXPECT_EQ(text_at(1.25, 2, "end", "a<b"), "<text x=\"1.2\" y=\"2.0\" text-anchor=\"end\">a&lt;b</text>\n");
}

TEST(Svg, LinesAreOfTheGrid) { EXPECT_EQ(grid_line(0, 1, 2, 3), "<path class=\"grid\" d=\"M0.0 1.0L2.0 3.0\"/>\n"); }

TEST(StepsFromZero, AreRoundAndAsManyAsThereMayBe) {
  EXPECT_THAT(steps_from_zero(10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(steps_from_zero(9.9, 5), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(steps_from_zero(10.1, 5), ElementsAre(0, 5, 10)) << "2 would make 6 steps";
  EXPECT_THAT(steps_from_zero(2.8, 5), ElementsAre(0, 1, 2)) << "0.5 would make 6 steps";
  EXPECT_THAT(steps_from_zero(300, 6), ElementsAre(0, 50, 100, 150, 200, 250, 300));
}

TEST(StepsFromZero, HaveTheLastOneInSpiteOfRounding) {
  EXPECT_THAT(steps_from_zero(0.6, 3), Pointwise(DoubleNear(1e-12), {0.0, 0.2, 0.4, 0.6}));
  EXPECT_THAT(steps_from_zero(3e-7, 3), Pointwise(DoubleNear(1e-18), {0.0, 1e-7, 2e-7, 3e-7}));
}

TEST(StepsFromZero, NeedARange) {
  for (const double high : {0.0, -1.0, std::nan(""), static_cast<double>(INFINITY)})
    EXPECT_THROW(static_cast<void>(steps_from_zero(high, 5)), std::invalid_argument) << high;
  EXPECT_THROW(static_cast<void>(steps_from_zero(1, 1)), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::html
