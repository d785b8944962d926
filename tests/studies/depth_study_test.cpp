#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kMs = 1e-3;

/// Returns a training step of llama3.2-1B, which has 16 layers, with 2,048 tokens.
/// @param layers        empty for the whole size
/// @param optimizer_ms  0 for a step without such a phase
Record trained(const std::string& layers, double ms, double optimizer_ms = 0) {
  Record record = support::timed_record(
      CaseId::parse("Model/size:llama3.2-1B/ctx:2048/batch:1/pass:train_step/precision:bf16/impl:sdpa" +
                    (layers.empty() ? "" : "/layers:" + layers)),
      Seconds{ms * kMs});
  record.timing->relative_half_width = 0.01;
  if (optimizer_ms > 0) record.timing->phases = {{.name = "optimizer", .median = Seconds{optimizer_ms * kMs}}};
  record.work = Work{.flop = {1e12}, .tokens = 2048};
  return record;
}

/// Returns the row of a number of layers, from `ms` on.
std::vector<std::string> row_of(std::vector<Record> records, const std::string& layers) {
  const std::vector files{support::gpu_results(std::move(records))};
  const StudyReport report =
      study_report(find_study("depth", "--study"), files,
                   {.axes = {parse_axis_override("Model.size=llama3.2-1B"), parse_axis_override("Model.impl=sdpa"),
                             parse_axis_override("Model.pass=train_step")},
                    .filter = ""});
  const StudySection& section = report.sections.at(0);
  EXPECT_EQ(section.columns.at(0).header, "layers");
  EXPECT_EQ(section.columns.at(1).header, "ms");
  for (const auto& row : section.rows) {
    if (row.at(0).text != layers) continue;
    std::vector<std::string> texts;
    for (std::size_t i = 1; i < section.columns.size(); ++i) texts.push_back(row.at(i).text);
    return texts;
  }
  return {};
}

TEST(DepthStudy, ExtrapolatesALineToAllLayers) {
  // 20 ms outside the layers and 10 ms per layer. All layers take 3 x 100 - 2 x 60 ms, and the errors of the two
  // medians, 1.0 and 0.6 ms, make one of hypot(3 * 1.0, 2 * 0.6) ms.
  const std::vector records{trained("4", 60), trained("8", 100)};
  EXPECT_THAT(row_of(records, "8"),
              ElementsAre("100.0", "10.00", "20.00", "16", "180.0", "1.795", "11,378", "", "", ""));
  EXPECT_THAT(row_of(records, "4"), ElementsAre("60.00", "", "", "", "", "", "", "", "", ""));
}

TEST(DepthStudy, ShardsTheOptimizer) {
  // All layers need 40 ms for the optimizer, of which an eighth stays.
  const std::vector records{trained("4", 60, 16), trained("8", 100, 24)};
  const std::vector<std::string> row = row_of(records, "8");
  EXPECT_EQ(row.at(7), "145.0");
  EXPECT_EQ(row.at(8), "14,124");
}

TEST(DepthStudy, ComparesTheLineWithTheWholeSize) {
  const std::vector records{trained("4", 60), trained("8", 100), trained("", 182)};
  EXPECT_EQ(row_of(records, "8").at(9), "0.9890");
}

TEST(DepthStudy, DoesNotExtrapolateFromOnePointOrFromTheHost) {
  EXPECT_THAT(row_of({trained("8", 100)}, "8"), ElementsAre("100.0", "", "", "16", "", "", "", "", "", ""));
  Record limited = trained("4", 60);
  limited.device.emplace();
  limited.timing->host_bound = true;
  const std::vector<std::string> row = row_of({limited, trained("8", 100)}, "8");
  EXPECT_THAT(row.at(4), IsEmpty());
}

TEST(DepthStudy, FitsMoreThanTwoDepthsByLeastSquares) {
  const std::vector records{trained("4", 61), trained("6", 78), trained("8", 101)};
  const std::vector files{support::gpu_results(records)};
  const StudyReport report =
      study_report(find_study("depth", "--study"), files,
                   {.axes = {parse_axis_override("Model.size=llama3.2-1B"), parse_axis_override("Model.impl=sdpa"),
                             parse_axis_override("Model.pass=train_step"), parse_axis_override("Model.layers=4,6,8")},
                    .filter = ""});
  EXPECT_EQ(report.sections.at(0).rows.at(2).at(2).text, "10.00");  // (101 - 61) / 4
  EXPECT_EQ(report.sections.at(0).rows.at(2).at(3).text, "20.00");  // 80 - 6 * 10
}

}  // namespace
}  // namespace tbench::studies
