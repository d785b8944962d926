// Tests the sentences on attention: each is true, changes with its numbers, and is silent without them.
#include "studies/attention/grid_sentences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "studies/engine/case_parameters.hpp"
#include "studies/study_notes.hpp"
#include "support/sample_results.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> notes_of(std::vector<Record> records) {
  return studies::notes_of("attention_grid", std::move(records));
}

Record with_peak(Record record, std::int64_t bytes) {
  record.memory = MemoryUse{};
  record.memory->allocated_peak = bytes;
  return record;
}

Record attention(const std::string& length, const std::string& pass, double ms, double held) {
  Record record = support::timed_record(CaseId::parse("Attention/batch:8/heads:1/d_model:64/seq_len:" + length +
                                                      "/causal:0/pass:" + pass + "/precision:fp32/impl:naive"),
                                        Seconds{ms * kMs});
  record.counters["held_bytes"] = held;
  return record;
}

TEST(GridSentences, SayHowAttentionGrows) {
  const std::vector<Record> records{attention("4096", "forward", 1, 0), attention("8192", "forward", 4, 0),
                                    attention("4096", "forward_backward", 3, 1000),
                                    attention("8192", "forward_backward", 9, 2000)};
  EXPECT_THAT(
      notes_of(records),
      Contains("Forward of naive at d_model 64: from 4096 to 8192 tokens, the time grows with the power 2.00 of the "
               "length; from 4096 to 8192 tokens, the memory held for backward with the power 1.00."));
  EXPECT_THAT(notes_of({records[0]}), Not(Contains(HasSubstr("grows with"))));
}

TEST(GridSentences, NameTheSmallestAllocationThatFailed) {
  Record failed = support::failed_record(attention("16384", "forward", 1, 0).id, Status::kOom, "out of memory");
  EXPECT_THAT(notes_of({failed}), Not(Contains(HasSubstr("allocation that failed"))));
  failed.requested_bytes = std::int64_t{8} << 30;
  Record larger =
      support::failed_record(attention("16384", "forward_backward", 1, 0).id, Status::kOom, "out of memory");
  larger.requested_bytes = std::int64_t{16} << 30;
  EXPECT_THAT(
      notes_of({larger, failed}),
      Contains("The smallest allocation that failed: 8.000 GiB, forward of naive with 16384 tokens at d_model 64."));
}

TEST(GridSentences, SayWhichMemoryTheLongestSequencesNeed) {
  constexpr std::int64_t kGibi = std::int64_t{1} << 30;
  const std::vector<Record> records{with_peak(attention("8192", "forward_backward", 1, 0), 4 * kGibi),
                                    with_peak(attention("16384", "forward_backward", 4, 0), 16 * kGibi),
                                    with_peak(attention("16384", "forward", 1, 0), 8 * kGibi)};
  EXPECT_THAT(notes_of(records),
              Contains("Forward and backward of naive with 16384 tokens peak at 16.00 GiB (d_model 64). A GPU with "
                       "less memory is limited to shorter sequences: with 8192 tokens they peak at 4.000 GiB (d_model "
                       "64)."));
  EXPECT_THAT(notes_of({records[1], records[2]}), Not(Contains(HasSubstr("peak at"))));
  const std::vector<Record> small{with_peak(records[0], kGibi / 4), with_peak(records[1], kGibi / 2)};
  EXPECT_THAT(notes_of(small), Not(Contains(HasSubstr("peak at"))));
  const Record failed = support::failed_record(records[1].id, Status::kOom, "out of memory");
  EXPECT_THAT(notes_of({records[0], failed}), Not(Contains(HasSubstr("peak at"))));
}

Record compared_attention(const std::string& impl, const std::string& pass, double ms, double held) {
  Record record = attention("16384", pass, ms, held);
  record.id = with_value(record.id, "impl", impl);
  return record;
}

TEST(GridSentences, SayWhatRecomputingSaves) {
  constexpr double kMebi = 1024 * 1024;
  const Record naive = compared_attention("naive", "forward_backward", 40, 8192 * kMebi);
  const Record flash = compared_attention("flash", "forward_backward", 8, 32 * kMebi);
  EXPECT_THAT(
      notes_of({naive, flash}),
      Contains(
          "Recomputing instead of keeping: with 16384 tokens at d_model 64, naive holds 8192 MiB for the "
          "backward pass. flash computes the scores again in the backward pass and holds 32.00 MiB, 99.6 % less."));
  EXPECT_THAT(notes_of({flash}), Not(Contains(HasSubstr("Recomputing"))));
  EXPECT_THAT(notes_of({naive}), Not(Contains(HasSubstr("Recomputing"))));
}

TEST(GridSentences, SayByWhichFactorsAnImplementationIsBelowNaive) {
  constexpr std::int64_t kMebi = std::int64_t{1} << 20;
  const auto both = [&](const std::string& impl, double ms, std::int64_t peak) {
    Record record = with_peak(compared_attention(impl, "forward_backward", ms, 1), peak);
    record.timing->phases = {{"forward", Seconds{ms / 4 * kMs}}, {"backward", Seconds{ms * 3 / 4 * kMs}}};
    return record;
  };
  std::vector<Record> records{compared_attention("naive", "forward", 10, 0), both("naive", 40, 100 * kMebi),
                              compared_attention("compiled", "forward", 5, 0), both("compiled", 20, 50 * kMebi)};
  EXPECT_THAT(
      notes_of(records),
      Contains("With 16384 tokens, compiled compared with naive: forward is 2.000 (d_model 64) times as fast, "
               "backward 2.000 (d_model 64) times. The peak memory of forward and backward is lower by a factor "
               "of 2.000 (d_model 64)."));
  records.erase(records.begin());
  EXPECT_THAT(notes_of(records), Not(Contains(HasSubstr("compared with naive"))));
}

}  // namespace
}  // namespace tbench::studies
