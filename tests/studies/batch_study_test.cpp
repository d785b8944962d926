// Tests the table and the sentence of the study of the batch, with figures computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "study_notes.hpp"
#include "support/sample_results.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> notes_of(std::vector<Record> records) {
  return studies::notes_of("batch", std::move(records));
}

/// Returns a forward pass of `medium` with a batch, in which the GPU works for all of the time.
Record with_batch(const std::string& batch, double ms) {
  const std::string name = "Model/size:medium/ctx:512/batch:" + batch + "/pass:forward/precision:bf16/impl:eager";
  Record record = support::timed_record(CaseId::parse(name), Seconds{ms * kMs});
  record.device.emplace();
  record.trace.emplace();
  record.trace->device = Seconds{ms * kMs};
  record.work = Work{.flop = {1}, .tokens = 512 * std::stoll(batch)};
  record.memory = MemoryUse{};
  record.memory->allocated_peak = 1000 + 500 * std::stoll(batch);
  return record;
}

TEST(BatchStudy, SaysWhatALargerBatchGains) {
  // 2,048 tokens in 20 ms, 8,192 in 64 ms: 1.25 times the tokens per second; 9,000 bytes instead of 3,000.
  EXPECT_THAT(notes_of({with_batch("4", 20), with_batch("16", 64)}),
              Contains("Batch 16 instead of 4, forward of medium with 512 tokens in bf16: 1.250 times the tokens per "
                       "second; 3.000 times the peak memory."));
  EXPECT_THAT(notes_of({with_batch("4", 20), with_batch("16", 160)}), Contains(HasSubstr(": 0.5000 times the tokens")));
  EXPECT_THAT(notes_of({with_batch("4", 20)}), Not(Contains(HasSubstr("Batch 16"))));
  EXPECT_THAT(notes_of({with_batch("16", 64)}), Not(Contains(HasSubstr("Batch 16"))));
}

TEST(BatchStudy, SaysWhetherTheHostLimitsASide) {
  Record limited = with_batch("4", 20);
  limited.trace->device = Seconds{16 * kMs};
  EXPECT_THAT(notes_of({limited, with_batch("16", 64)}),
              Contains(HasSubstr("1.250 times the tokens per second, because the host limits batch 4; 1.000 times by "
                                 "the GPU's own time; 3.000 times")));
}

TEST(BatchStudy, ComparesTheTimePerToken) {
  const std::vector files{support::gpu_results({with_batch("4", 20), with_batch("16", 64)})};
  const StudyReport report = study_report(find_study("batch", "--study"), files,
                                          {.axes = {}, .filter = "size:medium/.*pass:forward/precision:bf16"});
  const std::vector<StudyCell>& row = report.sections.at(0).rows.at(0);
  std::vector<std::string> texts;
  for (const StudyCell& cell : row) texts.push_back(cell.text);
  EXPECT_THAT(texts, testing::ElementsAre("", "9.766", "7.812", "", "1.250"));
}

}  // namespace
}  // namespace tbench::studies
