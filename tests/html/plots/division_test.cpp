#include "html/plots/division.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/sample_results.hpp"

namespace tbench::html {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

results::NamedResults file_of(const std::string& label, const std::vector<std::string>& names) {
  results::NamedResults named{label, support::golden_file()};
  named.file.records.clear();
  for (const std::string& name : names) {
    named.file.records.push_back(support::timed_record(CaseId::parse(name), Seconds{0.01}));
  }
  return named;
}

TEST(Grouping, NamesCasesByWhatDiffers) {
  const std::vector<results::NamedResults> files{
      file_of("a", {"Model/size:small/ctx:128/impl:eager", "Model/size:small/ctx:512/impl:flash/exec:graph"})};
  const PlotData data{files, {}};
  const Keys keys = varying(data.cases());
  EXPECT_THAT(keys, ElementsAre("ctx", "impl", "exec"));
  EXPECT_EQ(name_by(*data.cases()[1], keys), "ctx 512 flash graph") << "a number has its key";
  EXPECT_EQ(titled(data.cases(), {"size"}), "Model, small");
  EXPECT_EQ(titled({data.cases()[0]}, {}), "Model, small ctx 128 eager") << "one case says all of it";
}

TEST(Grouping, TakesTheMiddleProcess) {
  results::NamedResults file = file_of("a", {"Model/size:small", "Model/size:small", "Model/size:small"});
  for (const auto& [i, median] : {std::pair{0U, 0.03}, {1U, 0.01}, {2U, 0.02}}) {
    file.file.records[i].timing->median = Seconds{median};
  }
  const std::vector<results::NamedResults> files{file};
  const PlotData data{files, {}};
  const Cases middle = middles(data.cases(), counter("median_ms"));
  ASSERT_EQ(middle.size(), 1U);
  EXPECT_EQ(middle[0]->index, 2U);
}

TEST(Divided, MakesPanelsOfWhatHasTooManySeries) {
  std::vector<std::string> names;
  for (const char* precision : {"fp32", "bf16"}) {
    for (int batch = 1; batch <= 4; ++batch) {
      names.push_back(std::string{"Model/size:small/batch:"} + std::to_string(batch) + "/precision:" + precision);
    }
  }
  const std::vector<results::NamedResults> files{file_of("a", names)};
  const PlotData data{files, {}};
  const Division division = divided(data.cases(), {"size"});
  EXPECT_THAT(division.panel, ElementsAre("precision")) << "eight variants are more than five";
  EXPECT_THAT(division.series, ElementsAre("batch"));
}

TEST(SeriesOf, ColourIsTheImplementationAndShapeTheFile) {
  const std::vector<std::string> names{"Model/size:small/impl:flash", "Model/size:small/impl:flash/exec:graph"};
  const std::vector<results::NamedResults> files{file_of("a", names), file_of("b", names)};
  const PlotData data{files, {}};
  const std::vector<CaseSeries> series = series_of(data, data.cases(), {"impl", "exec"});
  ASSERT_EQ(series.size(), 4U);
  for (const CaseSeries& one : series) EXPECT_EQ(one.colour, "var(--slot-1)") << one.name;
  EXPECT_EQ(series[0].name, "flash · a");
  EXPECT_EQ(series[1].name, "flash · b");
  EXPECT_NE(series[0].shape, series[1].shape);
  EXPECT_FALSE(series[0].is_graph);
  EXPECT_TRUE(series[2].is_graph);
}

TEST(SeriesOf, VariantsOfOneFileHaveShadesAndShapes) {
  const std::vector<results::NamedResults> files{
      file_of("a", {"Model/size:small/impl:flash", "Model/size:xl/impl:flash"})};
  const PlotData data{files, {}};
  const std::vector<CaseSeries> series = series_of(data, data.cases(), {"size", "impl"});
  ASSERT_EQ(series.size(), 2U);
  EXPECT_NE(series[0].colour, series[1].colour);
  EXPECT_NE(series[0].shape, series[1].shape);
  EXPECT_TRUE(has_names(data, series, {"size", "impl"}));
  EXPECT_THAT(without({"size", "impl"}, {"size", "impl"}), IsEmpty());
}

}  // namespace
}  // namespace tbench::html
