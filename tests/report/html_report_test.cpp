#include "tbench/report/html_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sample_results.hpp"

namespace tbench::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HtmlReport, TextsOfResultsAreNoMarkup) {
  ResultFile file = golden_file();
  file.environment.gpu->name = "</script><img src=x>&{{page.css}}";
  const std::string page = html_report(std::vector<NamedResults>{{"a.json", file}});
  EXPECT_THAT(page, HasSubstr("\\u003c/script\\u003e\\u003cimg src=x\\u003e\\u0026{{page.css}}"));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
}

TEST(HtmlReport, LoadsNothing) {
  const std::string page = html_report(std::vector<NamedResults>{{"a.json", golden_file()}});
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* reference : {" src=", "href=", "@import"}) EXPECT_THAT(page, Not(HasSubstr(reference)));
}

TEST(HtmlData, ThinsTheSamplesOfManyCases) {
  ResultFile file = golden_file();
  Record record = full_record();
  record.timing->samples_s.assign(300, 0.025);
  file.records.assign(4000, record);  // 400,000 samples over 4,000 cases: 100 each
  const Json data = html_data(std::vector<NamedResults>{{"a.json", file}});
  EXPECT_EQ(data.at("records").at(0).at("samples_ms").size(), 100U);
  EXPECT_EQ(data.at("records").at(0).at("n"), 300);
}

}  // namespace
}  // namespace tbench::report
