#include "tbench/html/profile_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tbench::html {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMebi = 1 << 20;

ProfilePage sample() {
  ProfilePage page{.title = "Model <small>",
                   .notes = {"2 steps"},
                   .times = {{.name = "FORWARD", .milliseconds = 3, .operations = 10},
                             {.name = "OPTIMIZER", .milliseconds = 1, .operations = 1},
                             {.name = "gemm", .level = 1, .parent = 0, .milliseconds = 2, .operations = 4},
                             {.name = "nvjet", .level = 2, .parent = 2, .milliseconds = 2, .operations = 4}},
                   .memory = MemoryTimeline{.step = 3,
                                            .events = {1, 5},
                                            .bands = {{.range = "before the step", .bytes = {kMebi, kMebi}},
                                                      {.range = "FORWARD/ffn", .bytes = {0, 2 * kMebi}}},
                                            .phases = {{.name = "forward", .point = 0}},
                                            .peak = 1},
                   .tables = {}};
  CaptionedTable& table =
      page.tables.emplace_back(CaptionedTable{.caption = "Ranges", .table = render::Table{{{"range"}}}});
  table.table.add_row({"FORWARD"});
  return page;
}

TEST(ProfileHtml, HasTheFlameGraphTheMemoryAndTheTables) {
  const std::string page = profile_html(sample());
  EXPECT_THAT(page, HasSubstr("<h2>Model &lt;small&gt;</h2>\n<p class=\"note\">2 steps</p>"));
  EXPECT_THAT(page, HasSubstr("<figcaption>GPU time of a step by range, class and kernel: 4.000 ms</figcaption>"));
  EXPECT_THAT(page, HasSubstr("<title>gemm: 2.000 ms, 50.0 %, 4.000 operations</title>"));
  EXPECT_THAT(page, HasSubstr("<figcaption>Memory by range over step 3: up to 3.000 MiB</figcaption>"));
  EXPECT_THAT(page, AllOf(HasSubstr("<caption>Ranges</caption>"), Not(HasSubstr("<script"))));
}

TEST(ProfileHtml, AnOutermostRangeHasAColourAndWhatIsInsideSharesOfIt) {
  const std::string page = profile_html(sample());
  EXPECT_THAT(page, AllOf(HasSubstr("fill:color-mix(in srgb, var(--slot-2) 26%, var(--card))"),
                          HasSubstr("fill:color-mix(in srgb, var(--slot-2) 50%, var(--card))"),
                          HasSubstr("fill:color-mix(in srgb, var(--slot-2) 12%, var(--card))"),
                          HasSubstr("fill:color-mix(in srgb, var(--slot-1) 26%, var(--card))")));
  EXPECT_THAT(page, AllOf(HasSubstr("class=\"area\" style=\"fill:var(--slot-0)\""),
                          HasSubstr("class=\"area\" style=\"fill:var(--slot-2)\"")));
}

TEST(ProfileHtml, WhatThereIsNotIsNotShown) {
  ProfilePage page = sample();
  for (TimePart& part : page.times) part.milliseconds = 0;
  for (MemoryBand& band : page.memory->bands) band.bytes = {0, 0};
  EXPECT_THAT(profile_html(page), Not(HasSubstr("<figure")));
  page.times.clear();
  page.memory.reset();
  EXPECT_THAT(profile_html(page), AllOf(Not(HasSubstr("<figure")), HasSubstr("<caption>Ranges</caption>")));
}

}  // namespace
}  // namespace tbench::html
