#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "study_notes.hpp"
#include "support/sample_results.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns a record of 2,048 tokens with these samples, in milliseconds.
Record measured(const std::string& warmup, const std::vector<double>& samples_ms, double mean_ms, double deviation_ms) {
  Record record = support::timed_record(
      CaseId::parse("Warmup/size:small/ctx:512/batch:4/pass:forward/precision:fp32/impl:eager/steps:10/warmup:" +
                    warmup),
      Seconds{mean_ms / 1e3});
  record.timing->samples_s.clear();
  for (const double sample : samples_ms) record.timing->samples_s.push_back(sample / 1e3);
  record.timing->mean = Seconds{mean_ms / 1e3};
  record.timing->standard_deviation = Seconds{deviation_ms / 1e3};
  record.work = Work{.flop = {1e12}, .tokens = 2048};
  return record;
}

std::vector<std::string> notes_of(std::vector<Record> records) {
  return studies::notes_of("warmup", std::move(records));
}

TEST(WarmupStudy, SaysWhatTheFirstStepCosts) {
  const Record cold = measured("0", {220, 20, 20}, 86.67, 115.5);
  const Record little = measured("1", {21, 21, 21}, 21, 0.5);
  const Record warm = measured("5", {20, 20, 20}, 20, 0.1);
  EXPECT_THAT(
      notes_of({cold, little, warm}),
      Contains("forward of small without warm-up: the first of 3 steps takes 220.0 ms, the others 20.00 ms on "
               "average. The mean is 86.67 ms (standard deviation 115.5), 23,630 tokens/s; after 5 warm-up steps "
               "it is 20.00 ms (0.1000), 102,400 tokens/s."));
}

TEST(WarmupStudy, IsSilentWithoutOneOfTheTwo) {
  const Record cold = measured("0", {220, 20, 20}, 86.67, 115.5);
  const Record warm = measured("5", {20, 20, 20}, 20, 0.1);
  for (const auto& records : {std::vector{cold}, std::vector{warm}}) {
    EXPECT_THAT(notes_of(records), Not(Contains(HasSubstr("without warm-up"))));
  }
}

}  // namespace
}  // namespace tbench::studies
