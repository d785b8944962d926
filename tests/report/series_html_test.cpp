#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/report/series.hpp"

namespace tbench::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

SeriesPoint point(int day, double seconds) {
  SeriesPoint point;
  point.started = "2026-01-0" + std::to_string(day) + "T03:00:00Z";
  point.commit = "abc";
  point.epoch = "driver 1";
  point.status = Status::kOk;
  point.time = Seconds{seconds};
  point.spread = 0.00123456;
  point.processes = 5;
  point.peak_bytes = 1 << 30;
  return point;
}

/// Four nights: a step on the third, which is a confirmed regression too; no value on the fourth.
Series sample(const std::string& fingerprint, const std::string& pass) {
  Series series{.name = model_id(pass, "sdpa").name(), .fingerprint = fingerprint, .points = {}, .changes = {}};
  for (int day = 1; day <= 4; ++day) series.points.push_back(point(day, day < 3 ? 0.01 : 0.011));
  series.points[2].has_regressed = true;
  series.points[3].time = std::nullopt;
  series.points[3].spread = std::nullopt;
  series.points[3].peak_bytes = std::nullopt;
  series.points[3].status = Status::kOom;
  series.changes.push_back({.index = 2, .magnitude = std::log(1.1)});
  return series;
}

TEST(SeriesPageData, SaysWhatTheSeriesAre) {
  const Json data = series_page_data(std::vector<Series>{sample("H200", "forward")});
  const Json& record = data.at("records").at(0);
  EXPECT_EQ(data.at("families").at(record.at("family").get<std::size_t>()).at("name"), "Model");
  EXPECT_THAT(record.at("values"), ElementsAre("small", "512", "4", "forward", "bf16", "sdpa"));
  EXPECT_THAT(record.at("runs"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(record.at("ms"), ElementsAre(10.0, 10.0, 11.0, Json(nullptr)));
  EXPECT_THAT(record.at("spread"), ElementsAre(0.00123, 0.00123, 0.00123, Json(nullptr)));
  EXPECT_EQ(record.at("peak_bytes").at(0), 1 << 30);
  EXPECT_THAT(record.at("n"), ElementsAre(5, 5, 5, 5));
  EXPECT_THAT(record.at("regressed"), ElementsAre(2));
  EXPECT_EQ(record.at("changes").dump(), "[[2,1.1]]");
  EXPECT_EQ(record.at("status").dump(), R"({"3":"oom"})");
}

TEST(SeriesPageData, MachinesHaveTheirRunsOnce) {
  Series late = sample("H200", "train_step");
  late.points.erase(late.points.begin(), late.points.begin() + 2);  // measured from the third night on
  late.points[0].is_valid = false;
  std::vector<Series> all{sample("H200", "forward"), late, sample("H100", "forward")};
  all[0].points[2].is_valid = false;  // a night is valid or not for all of its cases
  const Json data = series_page_data(all);
  ASSERT_EQ(data.at("files").size(), 2U);
  const Json& machine = data.at("files").at(0);
  EXPECT_EQ(machine.at("label"), "H200");
  ASSERT_EQ(machine.at("runs").size(), 4U);
  EXPECT_EQ(machine.at("runs").at(2).at("started"), "2026-01-03T03:00:00Z");
  EXPECT_EQ(machine.at("runs").at(2).at("invalid"), true);
  EXPECT_FALSE(machine.at("runs").at(1).contains("invalid"));
  EXPECT_THAT(data.at("records").at(1).at("runs"), ElementsAre(2, 3));
  EXPECT_EQ(data.at("records").at(2).at("file"), 1);
}

TEST(SeriesPageData, ANameThatIsNoCaseIsAFamilyOfItsOwn) {
  Series series = sample("H200", "forward");
  series.name = "BM_plain/1024";
  const Json data = series_page_data(std::vector<Series>{series});
  EXPECT_EQ(data.at("families").at(0).at("name"), "BM_plain/1024");
  EXPECT_TRUE(data.at("records").at(0).at("values").empty());
}

TEST(SeriesHtml, TextsOfTheHistoryAreNoMarkupAndNothingIsLoaded) {
  Series series = sample("</script><img src=x>&{{page.css}}", "forward");
  series.points[0].commit = "</script><b>";
  const std::string page = series_html(std::vector<Series>{series});
  EXPECT_THAT(page, HasSubstr("\\u003c/script\\u003e\\u003cimg src=x\\u003e\\u0026{{page.css}}"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("<b>")), HasSubstr("default-src 'none'")));
  const std::string plain = series_html(std::vector<Series>{sample("H200", "forward")});
  for (const char* reference : {" src=", "href=", "@import"}) EXPECT_THAT(plain, Not(HasSubstr(reference)));
}

TEST(SeriesHtml, APageHasALimit) {
  Series series = sample("H200", "forward");
  series.points.assign(kMostPageValues / 2 + 1, series.points.front());
  EXPECT_NO_THROW(static_cast<void>(series_html(std::vector<Series>{series})));
  try {
    static_cast<void>(series_html(std::vector<Series>{series, series}));
    FAIL() << "a page of more than it can hold";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("2 series have 200002 values"), HasSubstr("fewer --nights")));
  }
}

}  // namespace
}  // namespace tbench::report
