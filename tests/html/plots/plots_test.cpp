#include "html/plots/plots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/sample_results.hpp"

namespace tbench::html {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Returns a case of a length and an implementation.
Record attention(const std::string& length, const std::string& impl, Seconds median) {
  return support::timed_record(CaseId::parse("Attention/seq_len:" + length + "/pass:forward/impl:" + impl), median);
}

results::NamedResults file_with(std::vector<Record> records) {
  results::NamedResults named{"a.json", support::golden_file()};
  named.file.records = std::move(records);
  return named;
}

std::string html_of(const results::NamedResults& file) {
  const std::vector<results::NamedResults> files{file};
  return plots_html(files, {});
}

const Plot& plot_of(const std::vector<Plot>& plots, std::string_view id) {
  return *std::ranges::find(plots, id, &Plot::id);
}

TEST(PlotsHtml, HasASectionPerPlotWithPanels) {
  const std::string html =
      html_of(file_with({attention("256", "flash", Seconds{1e-3}), attention("512", "flash", Seconds{4e-3})}));
  EXPECT_THAT(html, AllOf(HasSubstr("<section id=\"attention-time\""),
                          HasSubstr("data-x=\"256\" data-y=\"1\" data-unit=\"ms\""),
                          HasSubstr("data-x=\"512\" data-y=\"4\""), HasSubstr("data-case=\"1\"")));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("id=\"throughput\"")), Not(HasSubstr("id=\"ratio\""))));
  EXPECT_EQ(html_of(file_with({})), "");
}

TEST(PlotsHtml, TextsAreNoMarkup) {
  const std::string html = html_of(
      file_with({attention("256", "<img src=x>", Seconds{1e-3}), attention("512", "<img src=x>", Seconds{4e-3})}));
  EXPECT_THAT(html, AllOf(HasSubstr("&lt;img src=x&gt;"), Not(HasSubstr("<img"))));
}

TEST(ModelPlots, OutOfMemoryIsACross) {
  Record failed = attention("512", "flash", Seconds{1});
  failed.status = Status::kOom;
  failed.reason = "no memory";
  failed.timing.reset();
  const std::vector<results::NamedResults> files{file_with({attention("256", "flash", Seconds{1e-3}), failed})};
  const PlotData data{files, {}};
  const std::vector<Plot> plots = model_plots();
  const Panels panels = plot_of(plots, "attention-time").panels(data, data.cases());
  ASSERT_EQ(panels.size(), 1U);
  const ChartSeries& series = std::get<LineChart>(panels[0]).series.at(0);
  ASSERT_EQ(series.points.size(), 2U);
  EXPECT_TRUE(series.points[1].has_no_value);
  EXPECT_EQ(series.points[1].facts.note, "no memory");
}

TEST(ModelPlots, PhasesFollowEachOther) {
  Record step = support::timed_record(CaseId::parse("Model/size:small/impl:flash"), Seconds{3e-3});
  step.timing->phases = {{"forward", Seconds{1e-3}}, {"backward", Seconds{2e-3}}};
  const std::vector<results::NamedResults> files{file_with({step})};
  const PlotData data{files, {}};
  const std::vector<Plot> plots = model_plots();
  const Panels panels = plot_of(plots, "phases").panels(data, data.cases());
  ASSERT_EQ(panels.size(), 1U);
  const RowChart& chart = std::get<RowChart>(panels[0]);
  ASSERT_EQ(chart.series.size(), 2U);
  EXPECT_DOUBLE_EQ(chart.series[1].marks.at(0).from, 1);
  EXPECT_DOUBLE_EQ(chart.series[1].marks.at(0).to, 3);
  EXPECT_DOUBLE_EQ(chart.series[1].marks.at(0).value, 2);
}

TEST(OperationPlots, SquaresStandUnderTheCeilingOfTheirFile) {
  const auto timed = [](const std::string& name, double flop) {
    Record record = support::timed_record(CaseId::parse(name), Seconds{1e-3});
    record.work = Work{.flop = Flop{flop}, .tokens = 0, .bytes = 0, .ceiling = ""};
    return record;
  };
  const std::vector<results::NamedResults> files{file_with(
      {timed("Ceiling/what:gemm_bf16/regime:burst", 8e11), timed("Ceiling/what:gemm_bf16/regime:sustained", 7e11),
       timed("Gemm/m:256/n:256/k:256/precision:bf16", 1e11), timed("Gemm/m:512/n:512/k:512/precision:bf16", 2e11)})};
  const PlotData data{files, {}};
  const std::vector<Plot> plots = operation_plots();
  const Panels panels = plot_of(plots, "products").panels(data, data.cases());
  ASSERT_EQ(panels.size(), 1U);
  const LineChart& chart = std::get<LineChart>(panels[0]);
  ASSERT_EQ(chart.series.size(), 2U);
  EXPECT_NEAR(chart.series[0].points.at(1).y, 200, 1e-6);
  EXPECT_NEAR(chart.series[1].points.at(0).y, 800, 1e-6) << "the better of two regimes";
  EXPECT_TRUE(chart.series[1].is_dashed);
  EXPECT_EQ(unplaced_note(data.cases()), "") << "both products have counted bytes";
}

}  // namespace
}  // namespace tbench::html
