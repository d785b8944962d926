#include "tbench/history/series.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "support/history_samples.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::history {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const CaseId kCase = support::model_id("forward", "sdpa");

/// Returns twenty nights with a step of 5 % at the tenth, another driver from the fifteenth on, and one failure.
History sample_history() {
  std::mt19937_64 random{1};
  History history = History::in_memory();
  for (int night = 0; night < 30; ++night) {
    const double seconds = night < 15 ? 0.025 : 0.02625;
    results::MeasuredCase c = support::timed_case(kCase, support::noisy_times(random, seconds, 0.003, 5));
    if (night == 5) c = support::compared_case(kCase, {support::failed_replicate(Status::kOom, "3 GiB")});
    for (results::Replicate& replicate : c.replicates) replicate.peak_bytes = 1 << 30;
    history.add(support::run_of_night(
        night, {std::move(c), support::timed_case(support::model_id("train_step", "sdpa"), {0.05})},
        night < 27 ? "580.1" : "590.2"));
  }
  return history;
}

TEST(Sparkline, OneCharacterAValue) {
  const std::vector<std::optional<double>> values{1.0, std::nullopt, 2.0, 1.5};
  EXPECT_EQ(sparkline(values, 10), "▁·█▅");
  EXPECT_EQ(sparkline(values, 2), "█▁");
  EXPECT_EQ(sparkline({}, 5), "");
  EXPECT_EQ(render::display_width(sparkline(values, 10)), 4U);
}

TEST(Sparkline, NoiseLooksLikeNoise) {
  // The height is 4 % of the middle, 98.49 to 102.51. The values are at 1.51, 2.51 and 2.01 of 4.02, times eight steps.
  const std::vector<std::optional<double>> values{100, 101, 100.5};
  EXPECT_EQ(sparkline(values, 10), "▄▅▅");
  const std::vector<std::optional<double>> nothing{std::nullopt, std::nullopt};
  EXPECT_EQ(sparkline(nothing, 10), "··");
}

TEST(Series, ChangePointsAreOfOneEpoch) {
  const std::vector<Series> all = read_series(sample_history(), "forward", 100);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].points.size(), 30U);
  ASSERT_EQ(all[0].changes.size(), 1U);
  EXPECT_EQ(all[0].changes[0].index, 15U) << "counted with the night that failed";
  EXPECT_FALSE(all[0].points[5].time.has_value());
  EXPECT_EQ(all[0].points[5].status, Status::kOom);
  EXPECT_EQ(all[0].points[0].processes, 5U);
}

TEST(Series, OneIsPlottedAndListed) {
  const std::string page = series_page(read_series(sample_history(), "forward", 100).front(), std::nullopt);
  EXPECT_THAT(page, AllOf(HasSubstr(kCase.name()), HasSubstr("●"), HasSubstr("▲"), HasSubstr("×"), HasSubstr("┊"),
                          HasSubstr("▲ level +4.88 %"), HasSubstr("epoch: driver 590.2"), HasSubstr("oom"),
                          HasSubstr("1.000")));
  std::size_t points = 0;
  for (std::size_t at = page.find("●"); at != std::string::npos; at = page.find("●", at + 1)) ++points;
  EXPECT_EQ(points, 29U);
}

TEST(Series, APageFitsItsTerminal) {
  const std::string page = series_page(read_series(sample_history(), "forward", 100).front(), 60);
  for (const std::string& line : split(page, '\n')) EXPECT_LE(render::display_width(line), 60U) << line;
  const std::string narrow = series_page(read_series(sample_history(), "forward", 100).front(), 20);
  EXPECT_THAT(narrow, HasSubstr("●")) << "the newest nights";
}

TEST(Series, SeveralAreARowEach) {
  const std::vector<Series> all = read_series(sample_history(), "", 100);
  ASSERT_EQ(all.size(), 2U);
  const std::string page = series_overview(all, std::nullopt);
  EXPECT_THAT(page, AllOf(HasSubstr(all[0].fingerprint), HasSubstr("forward"), HasSubstr("train_step"), HasSubstr("█"),
                          HasSubstr("2026-01-17 +4.88 %")));
}

TEST(Series, OnlyTheNewestNights) { EXPECT_EQ(read_series(sample_history(), "forward", 7).front().points.size(), 7U); }

TEST(Series, JsonHasEverything) {
  const results::Json json = series_to_json(read_series(sample_history(), "forward", 100), "h.db");
  const results::Json& series = json.at("series").at(0);
  EXPECT_EQ(series.at("points").size(), 30U);
  EXPECT_FALSE(series.at("points").at(5).contains("time_s"));
  EXPECT_EQ(series.at("changes").at(0).at("index"), 15);
  EXPECT_NEAR(series.at("changes").at(0).at("ratio").get<double>(), 1.05, 0.005);
}

/// Returns nine nights. The last six were traced, except for one process of the last night.
History traced_history() {
  History history = History::in_memory();
  for (int night = 0; night < 9; ++night) {
    results::MeasuredCase c = support::timed_case(kCase, {0.025, 0.0252, 0.0251});
    double device_s = 0.0209;
    for (results::Replicate& replicate : c.replicates) {
      device_s += 0.0001;
      if (night >= 3) replicate.device_time = Seconds{device_s};
    }
    if (night == 8) c.replicates[1].device_time.reset();
    history.add(support::run_of_night(night, {std::move(c)}));
  }
  return history;
}

TEST(Series, DeviceTimesStandBesideTheSteps) {
  const std::vector<Series> all = read_series(traced_history(), "", 100);
  EXPECT_FALSE(all[0].points[2].device_time.has_value()) << "not traced";
  EXPECT_NEAR(all[0].points[3].device_time.value().value, 0.0211, 1e-12) << "the median of 21.0, 21.1 and 21.2 ms";
  EXPECT_FALSE(all[0].points[8].device_time.has_value()) << "of a part of the processes";
  EXPECT_THAT(series_page(all[0], std::nullopt), AllOf(HasSubstr("device ms"), HasSubstr("25.10      21.10")));
  EXPECT_THAT(series_overview(all, std::nullopt), AllOf(HasSubstr("device ms"), HasSubstr("25.10      21.10")));
  const results::Json points = series_to_json(all, "h.db").at("series").at(0).at("points");
  EXPECT_FALSE(points.at(2).contains("device_time_s"));
  EXPECT_NEAR(points.at(3).at("device_time_s").get<double>(), 0.0211, 1e-12);
}

TEST(Series, WithoutTracesThereIsNoColumnOfThem) {
  const std::vector<Series> all = read_series(sample_history(), "", 100);
  EXPECT_THAT(series_page(all[0], std::nullopt), testing::Not(HasSubstr("device")));
  EXPECT_THAT(series_overview(all, std::nullopt), testing::Not(HasSubstr("device")));
}

TEST(Series, NothingToShowIsAnError) {
  EXPECT_THROW(static_cast<void>(read_series(sample_history(), "none", 10)), UsageError);
  EXPECT_THROW(static_cast<void>(read_series(sample_history(), "(", 10)), UsageError);
  EXPECT_THROW(static_cast<void>(read_series(History::in_memory(), "", 10)), UsageError);
}

}  // namespace
}  // namespace tbench::history
