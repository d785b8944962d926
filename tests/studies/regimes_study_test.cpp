#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns a case of attention whose median is known to within 1 %.
Record timed(const std::string& pass, const std::string& impl, double ms, bool is_sustained) {
  Record record =
      support::timed_record(CaseId::parse("Attention/batch:8/heads:16/d_model:1024/seq_len:4096/causal:1/pass:" + pass +
                                          "/precision:bf16/impl:" + impl + (is_sustained ? "/regime:sustained" : "")),
                            Seconds{ms * 1e-3});
  record.timing->relative_half_width = 0.01;
  return record;
}

StudyReport report_of(std::vector<Record> records) {
  const std::vector files{support::gpu_results(std::move(records))};
  return study_report(find_study("regimes", "--study"), files, {});
}

/// Returns the leads of the cases with a time, in the order of the table.
std::vector<std::string> leads(const StudyReport& report) {
  const StudySection& section = report.sections.at(0);
  const auto lead = std::ranges::find(section.columns, "lead %", &render::Column::header);
  const auto at = static_cast<std::size_t>(lead - section.columns.begin());
  std::vector<std::string> found;
  for (const auto& row : section.rows) {
    if (!row.at(at).text.empty()) found.push_back(row.at(at).text);
  }
  return found;
}

TEST(RegimesStudy, NamesTheShapesWhoseWinnerChanges) {
  const std::vector records{timed("forward", "flash", 1, false),  timed("forward", "sdpa_cudnn", 1.1, false),
                            timed("forward", "flash", 1.5, true), timed("forward", "sdpa_cudnn", 1.2, true),
                            timed("backward", "flash", 3, false), timed("backward", "sdpa_cudnn", 4, false),
                            timed("backward", "flash", 5, true),  timed("backward", "sdpa_cudnn", 6, true)};
  const StudyReport report = report_of(records);
  EXPECT_THAT(
      report.answers,
      ElementsAre("The winner changes from bursts to sustained launches in 1 of 2 shapes: Attention d_model:1024 "
                  "seq_len:4096 pass:forward: flash by 10.00 % in bursts, sdpa_cudnn by 25.00 % sustained."));
  EXPECT_THAT(leads(report), ElementsAre("10.00", "-20.00", "-9.091", "25.00", "33.33", "20.00", "-25.00", "-16.67"));
}

TEST(RegimesStudy, CallsTimesWhoseIntervalsMeetATie) {
  const std::vector records{timed("forward", "flash", 1, false), timed("forward", "sdpa_cudnn", 1.1, false),
                            timed("forward", "flash", 1.5, true), timed("forward", "sdpa_cudnn", 1.51, true)};
  EXPECT_THAT(
      report_of(records).answers,
      ElementsAre("The winner changes from bursts to sustained launches in 1 of 1 shape: Attention d_model:1024 "
                  "seq_len:4096 pass:forward: flash by 10.00 % in bursts, a tie sustained."));
  const std::vector ties{timed("forward", "flash", 1, false), timed("forward", "sdpa_cudnn", 1.01, false), records[2],
                         records[3]};
  EXPECT_THAT(report_of(ties).answers,
              ElementsAre("The winner changes from bursts to sustained launches in 0 of 1 shape."));
}

TEST(RegimesStudy, IsSilentWithoutBothRegimes) {
  EXPECT_THAT(report_of({timed("forward", "flash", 1, false), timed("forward", "sdpa_cudnn", 1.1, false)}).answers,
              IsEmpty());
  EXPECT_THAT(report_of({timed("forward", "flash", 1, false), timed("forward", "flash", 2, true)}).answers, IsEmpty());
}

}  // namespace
}  // namespace tbench::studies
