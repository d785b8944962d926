#include "tbench/report/html_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

TEST(HtmlData, HasSharesAndFindings) {
  ResultFile file = golden_file();
  Record record = full_record();
  record.work = Work{.flop = Flop{1e12}, .tokens = 0, .bytes = 0, .ceiling = "gemm_bf16"};
  record.ceiling_per_second = 1e12 / record.timing->median.value / 1.1;
  record.findings = {{"linear", "float16"}};
  file.records = {record};
  const Json data = html_data(std::vector<NamedResults>{{"a.json", file}});
  const Json& shown = data.at("records").at(0);
  const auto metric = [&](const char* name) {
    const Json& names = data.at("metrics");
    return shown.at("metrics").at(static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()));
  };
  EXPECT_NEAR(metric("ceiling_share").get<double>(), 1.1, 1e-5);
  EXPECT_EQ(metric("above_ceiling"), 1);
  EXPECT_EQ(shown.at("ceiling"), "gemm_bf16");
  EXPECT_EQ(shown.at("findings").dump(), R"({"linear":"float16"})");
  EXPECT_TRUE(data.at("comparisons").empty()) << "there is nothing to compare with";
}

/// Five processes of two cases.
ResultFile processes(double factor) {
  ResultFile file = golden_file();
  file.options["processes"] = "5";
  file.records.clear();
  for (const char* pass : {"forward", "train_step"}) {
    for (int i = 0; i < 5; ++i) {
      const double slower = std::string{pass} == "forward" ? factor : 1;
      Record& record =
          file.records.emplace_back(timed_record(model_id(pass, "sdpa"), Seconds{0.02 * slower * (1 + 0.001 * i)}));
      record.repetition_index = i;
      record.repetitions = 5;
    }
  }
  return file;
}

TEST(HtmlData, ComparesEveryFileWithTheFirst) {
  const std::vector<NamedResults> results{
      {"a.json", processes(1)}, {"b.json", processes(1.05)}, {"c.json", processes(0.9)}};
  const Json comparisons = html_data(results).at("comparisons");
  ASSERT_EQ(comparisons.size(), 2U);
  const Json& slower = comparisons.at(0);
  EXPECT_EQ(slower.at("file"), 1);
  EXPECT_THAT(slower.at("summary").get<std::string>(), HasSubstr("2 cases: 1 REGRESSED, 1 SAME"));
  const Json& regressed = slower.at("cases").at(0);
  EXPECT_EQ(regressed.at("verdict"), "REGRESSED");
  EXPECT_NEAR(regressed.at("ratio").get<double>(), 1.05, 1e-4);
  EXPECT_LT(regressed.at("interval").at(0).get<double>(), 1.05);
  EXPECT_EQ(regressed.at("values").at(3), "forward");
  EXPECT_EQ(regressed.at("n").dump(), "[5,5]");
  EXPECT_EQ(comparisons.at(1).at("cases").at(0).at("verdict"), "IMPROVED");
}

TEST(HtmlData, SaysWhyFilesAreNotCompared) {
  ResultFile locked = processes(1);
  locked.environment.clock_policy = "locked";
  ResultFile other = processes(1);
  other.records = {timed_record(CaseId{"Other", {{"key", "value"}}}, Seconds{1})};
  ResultFile broken = processes(1);
  broken.records.front().timing->median = Seconds{0};
  const Json comparisons =
      html_data(std::vector<NamedResults>{{"a", processes(1)}, {"b", locked}, {"c", other}, {"d", broken}})
          .at("comparisons");
  EXPECT_THAT(comparisons.at(0).at("refused").get<std::string>(), HasSubstr("clock policies"));
  EXPECT_THAT(comparisons.at(1).at("refused").get<std::string>(), HasSubstr("no case in common"));
  EXPECT_THAT(comparisons.at(2).at("refused").get<std::string>(), HasSubstr("a median of 0 s"));
}

}  // namespace
}  // namespace tbench::report
