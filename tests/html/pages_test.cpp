#include "tbench/html/pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "support/study_samples.hpp"
#include "tbench/core/error.hpp"

namespace tbench::html {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(HtmlReport, TextsOfResultsAreNoMarkup) {
  results::ResultFile file = support::golden_file();
  file.environment.gpu->name = "</script><img src=x>&{{page.css}}";
  const std::string page = html_report(std::vector<results::NamedResults>{{"a.json", file}});
  EXPECT_THAT(page, Not(HasSubstr("<img")));
}

TEST(HtmlReport, LoadsNothing) {
  const std::string page = html_report(std::vector<results::NamedResults>{{"a.json", support::golden_file()}});
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* reference : {" src=", "href=", "@import"}) EXPECT_THAT(page, Not(HasSubstr(reference)));
}

TEST(HtmlData, ThinsTheSamplesOfManyCases) {
  results::ResultFile file = support::golden_file();
  Record record = support::full_record();
  record.timing->samples_s.assign(300, 0.025);
  file.records.assign(1500, record);  // 150,000 samples over 1,500 cases: 100 each
  const results::Json data = html_data(std::vector<results::NamedResults>{{"a.json", file}});
  EXPECT_EQ(data.at("records").at(0).at("samples_ms").size(), 100U);
  EXPECT_EQ(data.at("records").at(0).at("n"), 300);
}

TEST(HtmlData, HasSharesAndFindings) {
  results::ResultFile file = support::golden_file();
  Record record = support::full_record();
  record.work = Work{.flop = Flop{1e12}, .tokens = 0, .bytes = 0, .ceiling = "gemm_bf16"};
  record.ceiling_per_second = 1e12 / record.timing->median.value / 1.1;
  record.labels = {{"linear", "float16"}};
  file.records = {record};
  const results::Json data = html_data(std::vector<results::NamedResults>{{"a.json", file}});
  const results::Json& shown = data.at("records").at(0);
  const auto metric = [&](const char* name) {
    const results::Json& names = data.at("metrics");
    return shown.at("metrics").at(static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()));
  };
  EXPECT_NEAR(metric("ceiling_share").get<double>(), 1.1, 1e-5);
  EXPECT_EQ(metric("above_ceiling"), 1);
  EXPECT_EQ(shown.at("ceiling"), "gemm_bf16");
  EXPECT_EQ(shown.at("findings").dump(), R"({"linear":"float16"})");
  EXPECT_TRUE(data.at("comparisons").empty()) << "there is nothing to compare with";
}

TEST(HtmlData, TimesHaveTheMarksOfTheTables) {
  results::ResultFile file = support::golden_file();
  Record plain = support::timed_record(support::model_id("forward", "sdpa"), Seconds{0.02});
  Record short_one = support::burst_record(support::model_id("forward", "flash"), Seconds{5e-6});
  file.records = {plain, short_one};
  results::Json data = html_data(std::vector<results::NamedResults>{{"a.json", file}});
  EXPECT_FALSE(data.at("records").at(0).contains("marks"));
  EXPECT_EQ(data.at("records").at(1).at("marks"), "~");
  EXPECT_EQ(data.at("records").at(1).at("note"), "under 10 us: resolution limited");
  ASSERT_EQ(data.at("legend").size(), 1U) << "of the marks that there are";
  EXPECT_THAT(data.at("legend").at(0).get<std::string>(), HasSubstr("~ not sharp"));
  file.records = {plain};
  data = html_data(std::vector<results::NamedResults>{{"a.json", file}});
  EXPECT_TRUE(data.at("legend").empty());
}

/// Returns five processes of two cases.
results::ResultFile processes(double factor) {
  results::ResultFile file = support::golden_file();
  file.options["processes"] = "5";
  file.records.clear();
  for (const char* pass : {"forward", "train_step"}) {
    for (int i = 0; i < 5; ++i) {
      const double slower = std::string{pass} == "forward" ? factor : 1;
      Record& record = file.records.emplace_back(
          support::timed_record(support::model_id(pass, "sdpa"), Seconds{0.02 * slower * (1 + 0.001 * i)}));
      record.repetition_index = i;
      record.repetitions = 5;
    }
  }
  return file;
}

TEST(HtmlData, ComparesEveryFileWithTheFirst) {
  const std::vector<results::NamedResults> results{
      {"a.json", processes(1)}, {"b.json", processes(1.05)}, {"c.json", processes(0.9)}};
  const results::Json comparisons = html_data(results).at("comparisons");
  ASSERT_EQ(comparisons.size(), 2U);
  const results::Json& slower = comparisons.at(0);
  EXPECT_EQ(slower.at("file"), 1);
  EXPECT_THAT(slower.at("summary").get<std::string>(), HasSubstr("2 cases: 1 REGRESSED, 1 SAME"));
  const results::Json& regressed = slower.at("cases").at(0);
  EXPECT_EQ(regressed.at("outcome"), "REGRESSED");
  EXPECT_NEAR(regressed.at("ratio").get<double>(), 1.05, 1e-4);
  EXPECT_LT(regressed.at("interval").at(0).get<double>(), 1.05);
  EXPECT_EQ(regressed.at("values").at(3), "forward");
  EXPECT_EQ(regressed.at("n").dump(), "[5,5]");
  EXPECT_EQ(comparisons.at(1).at("cases").at(0).at("outcome"), "IMPROVED");
}

TEST(HtmlData, SaysWhyFilesAreNotCompared) {
  results::ResultFile locked = processes(1);
  locked.environment.clock_policy = "locked";
  results::ResultFile other = processes(1);
  other.records = {support::timed_record(CaseId{"Other", {{"key", "value"}}}, Seconds{1})};
  results::ResultFile broken = processes(1);
  broken.records.front().timing->median = Seconds{0};
  const results::Json comparisons =
      html_data(std::vector<results::NamedResults>{{"a", processes(1)}, {"b", locked}, {"c", other}, {"d", broken}})
          .at("comparisons");
  EXPECT_THAT(comparisons.at(0).at("refused").get<std::string>(), HasSubstr("clock policies"));
  EXPECT_EQ(comparisons.at(1).at("file"), 3) << "c has no case in common with a";
  EXPECT_THAT(comparisons.at(1).at("refused").get<std::string>(), HasSubstr("a median of 0 s"));
}

history::SeriesPoint point(int day, double seconds) {
  history::SeriesPoint point;
  point.started = "2026-01-0" + std::to_string(day) + "T03:00:00Z";
  point.commit = "abc";
  point.epoch = "driver 1";
  point.status = Status::kOk;
  point.time = Seconds{seconds};
  point.dispersion = 0.00123456;
  point.processes = 5;
  point.peak_bytes = 1 << 30;
  return point;
}

/// Returns a series of four nights: a step on the third night, which is also a confirmed regression, and no value on
/// the fourth.
history::Series sample(const std::string& fingerprint, const std::string& pass) {
  history::Series series{
      .name = support::model_id(pass, "sdpa").name(), .fingerprint = fingerprint, .points = {}, .changes = {}};
  for (int day = 1; day <= 4; ++day) series.points.push_back(point(day, day < 3 ? 0.01 : 0.011));
  series.points[2].has_regressed = true;
  series.points[3].time = std::nullopt;
  series.points[3].dispersion = std::nullopt;
  series.points[3].peak_bytes = std::nullopt;
  series.points[3].status = Status::kOom;
  series.changes.push_back({.index = 2, .magnitude = std::log(1.1)});
  return series;
}

TEST(SeriesPageData, SaysWhatTheSeriesAre) {
  const results::Json data = series_page_data(std::vector<history::Series>{sample("H200", "forward")});
  const results::Json& record = data.at("records").at(0);
  EXPECT_EQ(data.at("families").at(record.at("family").get<std::size_t>()).at("name"), "Model");
  EXPECT_THAT(record.at("values"), ElementsAre("small", "512", "4", "forward", "bf16", "sdpa"));
  EXPECT_THAT(record.at("runs"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(record.at("ms"), ElementsAre(10.0, 10.0, 11.0, results::Json(nullptr)));
  EXPECT_THAT(record.at("spread"), ElementsAre(0.00123, 0.00123, 0.00123, results::Json(nullptr)));
  EXPECT_EQ(record.at("peak_bytes").at(0), 1 << 30);
  EXPECT_THAT(record.at("n"), ElementsAre(5, 5, 5, 5));
  EXPECT_THAT(record.at("regressed"), ElementsAre(2));
  EXPECT_EQ(record.at("changes").dump(), "[[2,1.1]]");
  EXPECT_EQ(record.at("status").dump(), R"({"3":"oom"})");
  EXPECT_FALSE(record.contains("device_ms")) << "nothing was traced";
}

TEST(SeriesPageData, DeviceTimesAreThereWhereARunWasTraced) {
  history::Series series = sample("H200", "forward");
  series.points[1].device_time = Seconds{0.0087654321};
  const results::Json data = series_page_data(std::vector<history::Series>{series});
  EXPECT_THAT(data.at("records").at(0).at("device_ms"), ElementsAre(nullptr, 8.7654, nullptr, nullptr));
}

TEST(SeriesPageData, MachinesHaveTheirRunsOnce) {
  history::Series late = sample("H200", "train_step");
  late.points.erase(late.points.begin(), late.points.begin() + 2);  // measured from the third night on
  late.points[0].is_valid = false;
  std::vector<history::Series> all{sample("H200", "forward"), late, sample("H100", "forward")};
  all[0].points[2].is_valid = false;  // a night is valid or invalid for all of its cases
  const results::Json data = series_page_data(all);
  ASSERT_EQ(data.at("files").size(), 2U);
  const results::Json& machine = data.at("files").at(0);
  EXPECT_EQ(machine.at("label"), "H200");
  ASSERT_EQ(machine.at("runs").size(), 4U);
  EXPECT_EQ(machine.at("runs").at(2).at("started"), "2026-01-03T03:00:00Z");
  EXPECT_EQ(machine.at("runs").at(2).at("invalid"), true);
  EXPECT_FALSE(machine.at("runs").at(1).contains("invalid"));
  EXPECT_THAT(data.at("records").at(1).at("runs"), ElementsAre(2, 3));
  EXPECT_EQ(data.at("records").at(2).at("file"), 1);
}

TEST(SeriesPageData, ANameThatIsNoCaseIsAFamilyOfItsOwn) {
  history::Series series = sample("H200", "forward");
  series.name = "BM_plain/1024";
  const results::Json data = series_page_data(std::vector<history::Series>{series});
  EXPECT_EQ(data.at("families").at(0).at("name"), "BM_plain/1024");
  EXPECT_TRUE(data.at("records").at(0).at("values").empty());
}

TEST(SeriesHtml, TextsOfTheHistoryAreNoMarkupAndNothingIsLoaded) {
  history::Series series = sample("</script><img src=x>&{{page.css}}", "forward");
  series.points[0].commit = "</script><b>";
  const std::string page = series_html(std::vector<history::Series>{series});
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("<b>")), HasSubstr("default-src 'none'")));
  const std::string plain = series_html(std::vector<history::Series>{sample("H200", "forward")});
  for (const char* reference : {" src=", "href=", "@import"}) EXPECT_THAT(plain, Not(HasSubstr(reference)));
}

TEST(SeriesHtml, APageHasALimit) {
  history::Series series = sample("H200", "forward");
  series.points.assign(kMaxPageValues / 2 + 1, series.points.front());
  EXPECT_NO_THROW(static_cast<void>(series_html(std::vector<history::Series>{series})));
  try {
    static_cast<void>(series_html(std::vector<history::Series>{series, series}));
    FAIL() << "a page of more than it can hold";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("2 series have 200002 values"), HasSubstr("fewer --nights")));
  }
}

TEST(StudyHtml, IsAPageOfItsOwnWithoutScripts) {
  const std::string page = study_html(support::study_report_sample());
  EXPECT_THAT(page, ::testing::StartsWith("<!doctype html>\n<html lang=\"en\">"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, HasSubstr("<caption>Caption &amp; more</caption>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"col\" class=\"number\">ms</th>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">a&lt;b|c</th><td class=\"number\">— <a href=\"#how-2\""));
  EXPECT_THAT(page, HasSubstr("<li id=\"how-2\"><code>bench --filter='a|b'</code></li>"));
  EXPECT_THAT(page, Not(HasSubstr("a<b")));
}

TEST(StudyHtml, HasChartsOfTablesWithAnAxis) {
  studies::StudyReport report = support::study_report_sample();
  EXPECT_THAT(study_html(report), Not(HasSubstr("<figure>"))) << "unknown sizes do not form an axis";
  report.sections.front() = {.caption = "Model <b>. Median ms by context",
                             .columns = {{"size", render::Align::kLeft},
                                         {"ctx:128", render::Align::kRight},
                                         {"ctx:256", render::Align::kRight}},
                             .rows = {{{.text = "small"}, {.text = "1", .value = 1.0}, {.text = "2", .value = 2.0}}}};
  const std::string page = study_html(report);
  EXPECT_THAT(page,
              AllOf(HasSubstr("<figcaption>Median ms</figcaption>"), HasSubstr("2 values, which the table lists")));
  EXPECT_LT(page.find("<figure>"), page.find("<table>"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<b>"))));
}

TEST(StudyHtml, ChaptersHaveContentsAndTheFilesAtTheEnd) {
  studies::StudyReport report = support::study_report_sample();
  ASSERT_FALSE(report.sources.empty());
  report.sections.push_back(report.sections.front());
  report.sections.front().heading = "Time";
  report.sections.back().heading = "Memory <b>";
  report.sections.back().sentences = {"It is 1 & 2."};
  report.sections.back().rows.front().front().full = "void kernel<float>()";
  const std::string page = study_html(report);
  EXPECT_THAT(page, HasSubstr("<li><a href=\"#chapter-2\">Memory &lt;b&gt;</a></li>"));
  EXPECT_THAT(page, HasSubstr("<h2 id=\"chapter-2\">Memory &lt;b&gt;</h2>\n<p>It is 1 &amp; 2.</p>"));
  EXPECT_THAT(page, HasSubstr(" title=\"void kernel&lt;float&gt;()\""));
  EXPECT_LT(page.find("<nav"), page.find("<h2 id=\"chapter-1\">Time</h2>"));
  EXPECT_GT(page.find("<details><summary>Files: "), page.rfind("</table>"));
}

TEST(StudyHtml, NothingMissingHasNoListOfCommands) {
  studies::StudyReport whole = support::study_report_sample();
  whole.commands.clear();
  whole.sections.front().rows.erase(whole.sections.front().rows.begin() + 1);
  EXPECT_THAT(study_html(whole), Not(HasSubstr("Not measured")));
}

}  // namespace
}  // namespace tbench::html
