// Tests every rule: readers refuse a good record, entry or file that breaks it in one place, and name the rule.
#include "tbench/results/record_rules.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_json.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::results {
namespace {

using testing::AllOf;
using testing::HasSubstr;

template <class Value>
struct Broken {
  RecordRule rule;
  const char* problem;
  std::function<void(Value&)> spoil;
};

TEST(RecordRules, GoodRecordsKeepThem) {
  for (const Record& record : support::golden_file().records) {
    EXPECT_FALSE(broken_rule(record).has_value()) << record.id.name();
  }
  for (const Status status : kAllOf<Status>) {
    if (has_time(status)) continue;
    EXPECT_FALSE(broken_rule(support::failed_record(support::model_id("forward", "eager"), status, "x")).has_value());
  }
}

TEST(RecordRules, ARecordThatBreaksOneIsFound) {
  const std::vector<Broken<Record>> cases{
      {RecordRule::kTime, "the status is incorrect", [](Record& r) { r.status = Status::kIncorrect; }},
      {RecordRule::kTime, "the status is ok", [](Record& r) { r.timing.reset(); }},
      {RecordRule::kRegime, "wall_s and drain_s are missing", [](Record& r) { r.timing->wall.reset(); }},
      {RecordRule::kRegime, "only a burst has l2", [](Record& r) { r.timing->l2 = L2State::kCold; }},
      {RecordRule::kReason, "the status is unstable", [](Record& r) { r.status = Status::kUnstable; }},
      {RecordRule::kReason, "4097 bytes", [](Record& r) { r.reason.assign(kMaxReason + 1, 'x'); }},
      {RecordRule::kVerification, "passed is false", [](Record& r) { r.verification->passed = false; }},
      {RecordRule::kSamples, "empty", [](Record& r) { r.timing->samples_s.clear(); }},
      {RecordRule::kSamples, "samples_s[3] is 0", [](Record& r) { r.timing->samples_s[3] = 0; }},
      {RecordRule::kSamples, "samples_s[8] is -1", [](Record& r) { r.timing->samples_s[8] = -1; }},
      {RecordRule::kFlagged, "9 samples, and none of index 9", [](Record& r) { r.timing->flagged_samples = {9}; }},
      {RecordRule::kLeastFlop, "more than flop", [](Record& r) { r.work->min_flop = Flop{1.6e12}; }},
      {RecordRule::kMemory, "the parts of the peak add up to 2709225472 of 3221225472 bytes",
       [](Record& r) { r.memory->split.erase("gradients"); }},
      {RecordRule::kMemory, "the parts of what backward holds add up to 2560000001",
       [](Record& r) { ++r.memory->phases.at(1).held_split.at("other"); }},
      {RecordRule::kIndexes, "range_kernels.range is 2, and there are 2",
       [](Record& r) { r.trace->range_kernels.at(0).range = 2; }},
      {RecordRule::kIndexes, "range_kernels.kernel is 2, and there are 2",
       [](Record& r) { r.trace->range_kernels.at(0).kernel = 2; }},
      {RecordRule::kIndexes, "timeline.name is -1, and there are 3",
       [](Record& r) { r.trace->timeline->name.at(1) = -1; }},
      {RecordRule::kIndexes, "timeline.kind is 3, and there are 3",
       [](Record& r) { r.trace->timeline->kind.at(1) = 3; }},
      {RecordRule::kIndexes, "timeline.end_s has 2 elements, and there are 3",
       [](Record& r) { r.trace->timeline->end_s.pop_back(); }},
      {RecordRule::kIndexes, "timeline.bands.bytes has 4 elements, and there are 3",
       [](Record& r) { r.memory->timeline->bands.at(1).bytes.push_back(0); }},
      {RecordRule::kIndexes, "timeline.phases.point is 3, and there are 3",
       [](Record& r) { r.memory->timeline->phases.at(1).point = 3; }},
      {RecordRule::kIndexes, "timeline.peak is 3, and there are 3", [](Record& r) { r.memory->timeline->peak = 3; }},
      {RecordRule::kRepetition, "index is -1", [](Record& r) { r.repetition_index = -1; }},
      {RecordRule::kRepetition, "index is 1", [](Record& r) { r.repetition_index = 1; }},
      {RecordRule::kRepetition, "repetitions is 0", [](Record& r) { r.repetitions = 0; }},
  };
  for (const Broken<Record>& broken : cases) {
    Record record = support::full_record();
    broken.spoil(record);
    const auto found = broken_rule(record);
    ASSERT_TRUE(found.has_value()) << broken.problem;
    EXPECT_EQ(found->rule, broken.rule) << found->problem;
    EXPECT_THAT(found->problem, HasSubstr(broken.problem));
  }
}

TEST(RecordRules, EveryStatisticIsThatOfTheSamples) {
  const std::vector<Broken<Timing>> cases{
      {RecordRule::kStatistics, "median_s", [](Timing& t) { t.median = t.median * (1 + 2e-9); }},
      {RecordRule::kStatistics, "p10_s", [](Timing& t) { t.p10 = t.p10 * (1 - 2e-9); }},
      {RecordRule::kStatistics, "p90_s", [](Timing& t) { t.p90 = t.p90 * (1 + 2e-9); }},
      {RecordRule::kStatistics, "min_s", [](Timing& t) { t.min = t.min * (1 - 2e-9); }},
      {RecordRule::kStatistics, "mean_s", [](Timing& t) { t.mean = t.mean * (1 + 2e-9); }},
      {RecordRule::kStatistics, "standard_deviation_s is", [](Timing& t) { *t.standard_deviation = Seconds{1e-5}; }},
      {RecordRule::kStatistics, "standard_deviation_s is nothing", [](Timing& t) { t.standard_deviation.reset(); }},
      {RecordRule::kStatistics, "relative_iqr", [](Timing& t) { *t.relative_iqr *= 1.01; }},
      {RecordRule::kStatistics, "relative_half_width", [](Timing& t) { *t.relative_half_width *= 1.01; }},
      {RecordRule::kStatistics, "relative_half_width", [](Timing& t) { t.relative_half_width.reset(); }},
      {RecordRule::kStatistics, "mean_s", [](Timing& t) { t.samples_s[1] *= 1.0001; }},
      {RecordRule::kStatistics, "", [](Timing& t) { t.samples_s.pop_back(); }},
  };
  for (const Broken<Timing>& broken : cases) {
    Record record = support::full_record();
    broken.spoil(*record.timing);
    const auto found = broken_rule(record);
    ASSERT_TRUE(found.has_value()) << broken.problem;
    EXPECT_EQ(found->rule, broken.rule) << found->problem;
    EXPECT_THAT(found->problem, HasSubstr(broken.problem));
  }
}

TEST(RecordRules, EarlierVersionsMayHaveBeenShortened) {
  const auto rule_of = [](const std::function<void(Timing&)>& spoil, std::int64_t version) {
    Record record = support::full_record();
    spoil(*record.timing);
    return broken_rule(record, version).has_value();
  };
  const auto shortened = [](Timing& t) { t.samples_s.pop_back(); };
  EXPECT_FALSE(rule_of(shortened, kExactStatistics - 1));
  EXPECT_TRUE(rule_of(shortened, kExactStatistics));
  EXPECT_TRUE(rule_of([](Timing& t) { t.median = t.median * 0.7; }, 1));
  EXPECT_TRUE(rule_of([](Timing& t) { std::swap(t.p10, t.p90); }, 1)) << "p10 above p90";
  const Record record = support::full_record();
  Json entry = benchmark_entries({&record, 1}).at(0);
  entry["mfu"] = 0.9;
  EXPECT_FALSE(broken_rule(entry, record, kComparedCounters - 1).has_value()) << "formulas of another version";
  EXPECT_TRUE(broken_rule(entry, record, kComparedCounters).has_value());
}

TEST(RecordRules, RoundingBreaksNone) {
  Record record = support::full_record();
  record.timing->median = record.timing->median * (1 + 1e-10);
  EXPECT_FALSE(broken_rule(record).has_value());
  // If all samples are equal, their differences are only rounding errors.
  support::set_samples(*record.timing, std::vector<double>(30, 0.1));
  record.timing->standard_deviation = Seconds{3e-17};
  record.timing->relative_iqr = 1e-16;
  EXPECT_FALSE(broken_rule(record).has_value());
}

/// Returns the message with which read_result_file() refuses the spoilt golden file.
std::string refusal(const std::function<void(Json&)>& spoil) {
  const support::TemporaryFolder folder;
  Json json = result_file_to_json(support::golden_file());
  spoil(json.at("benchmarks"));
  support::write_text(folder.file("a.json"), pretty(json));
  try {
    static_cast<void>(read_result_file(folder.file("a.json")));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "read";
}

TEST(RecordRules, AReaderNamesFileEntryCaseRuleAndRemedy) {
  EXPECT_EQ(refusal([](Json&) {}), "read");
  EXPECT_THAT(refusal([](Json& entries) { entries[0]["tbench"]["timing"]["median_s"] = 0.02; }),
              AllOf(HasSubstr("/a.json': benchmarks[0]: Model/size:small/"),
                    HasSubstr("/impl:sdpa breaks the rule 'statistics': median_s is 0.02, and the samples give 0.025"),
                    HasSubstr("; the file was changed after it was written, or by another program: measure again")));
}

TEST(RecordRules, AnEntryThatBreaksOneIsRefused) {
  const std::vector<Broken<Json>> cases{
      {RecordRule::kName, "name is \"x\"", [](Json& e) { e[0]["name"] = "x"; }},
      {RecordRule::kName, "run_name is nothing", [](Json& e) { e[0].erase("run_name"); }},
      {RecordRule::kName, "impl:flash", [](Json& e) { e[0]["tbench"]["parameters"]["impl"] = "flash"; }},
      {RecordRule::kRealTime, "it is 253.12 \"ms\"", [](Json& e) { e[0]["real_time"] = 253.12; }},
      {RecordRule::kRealTime, "\"us\"", [](Json& e) { e[0]["time_unit"] = "us"; }},
      {RecordRule::kRealTime, "exactly if", [](Json& e) { e[0].erase("real_time"); }},
      {RecordRule::kRealTime, "exactly if", [](Json& e) { e[1]["real_time"] = 1; }},
      {RecordRule::kCounters, "tokens_per_second is 1", [](Json& e) { e[0]["tokens_per_second"] = 1; }},
      {RecordRule::kCounters, "invented is 1, and the record gives nothing", [](Json& e) { e[0]["invented"] = 1; }},
      {RecordRule::kCounters, "mfu is \"high\"", [](Json& e) { e[0]["mfu"] = "high"; }},
  };
  for (const Broken<Json>& broken : cases) {
    EXPECT_THAT(refusal(broken.spoil), AllOf(HasSubstr(fmt::format("breaks the rule '{}'", to_string(broken.rule))),
                                             HasSubstr(broken.problem)));
  }
  EXPECT_EQ(refusal([](Json& e) { e[0].erase("mfu"); }), "read") << "earlier versions had fewer counters";
}

TEST(RecordRules, AFileHasARunAndItsSamplesOnce) {
  // Entries 2 and 3 are repetitions of the same case. Entry 0 has nine different samples.
  EXPECT_THAT(refusal([](Json& e) { e.push_back(e[3]); }),
              AllOf(HasSubstr("benchmarks[10]: Model/"), HasSubstr("breaks the rule 'once': repetition 1 is at "),
                    HasSubstr("benchmarks[3], too")));
  EXPECT_THAT(
      refusal([](Json& e) {
        e.push_back(e[0]);
        e[0]["tbench"]["repetitions"] = e[10]["tbench"]["repetitions"] = 2;
        e[10]["tbench"]["repetition_index"] = 1;
      }),
      AllOf(HasSubstr("benchmarks[10]: Model/"), HasSubstr("breaks the rule 'copy'"), HasSubstr("benchmarks[0]")));
  FileRuns runs;
  Record failed = support::failed_record(CaseId{"F", {{"a", "1"}, {"b", "2"}}}, Status::kOom, "full");
  runs.add(failed, "first");
  failed.repetition_index = 1;
  EXPECT_NO_THROW(runs.add(failed, "second"));
  failed.id = CaseId{"F", {{"b", "2"}, {"a", "1"}}};
  EXPECT_THROW(runs.add(failed, "third"), RuleError) << "parameters in another order";
}

TEST(RecordRules, NestingIsRefusedBeforeItIsParsed) {
  const std::string deep = std::string(110'000, '[') + std::string(110'000, ']');
  EXPECT_THAT(refusal([&](Json& e) { e[0]["tbench"]["reason"] = "in a text: " + deep; }), HasSubstr("'reason'"));
  const support::TemporaryFolder folder;
  const std::string path = folder.file("a.json");
  support::write_text(path, R"({"context": )" + deep + R"(, "benchmarks": []})");
  EXPECT_THAT([&] { static_cast<void>(read_result_file(path)); },
              testing::ThrowsMessage<UsageError>(AllOf(HasSubstr("/a.json': nested more than 64 levels deep"),
                                                       HasSubstr("; give a file that --benchmark_out=FILE wrote"))));
}

// Returns the seconds of processor time that `act` takes.
double processor_seconds(const std::function<void()>& act) {
  const std::clock_t begin = std::clock();
  act();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// The limit is a ratio to the time of parsing. A limit in seconds would depend on the machine and on its other work.
TEST(RecordRules, CheckingOneOfTenThousandRecordsTakesAtMostHalfOfParsingIt) {
  constexpr int kRecords = 10'000;
  constexpr int kParsed = 500;
  Record record = support::full_record();
  std::vector<double> samples;
  std::mt19937_64 random{3};
  std::uniform_real_distribution<double> seconds{0.025, 0.026};
  for (int i = 0; i < 100; ++i) samples.push_back(seconds(random));
  support::set_samples(*record.timing, samples);
  const Json entry = benchmark_entries({&record, 1}).at(0);
  FileRuns runs;
  record.repetitions = kRecords;
  const double checking = processor_seconds([&] {
    for (int i = 0; i < kRecords; ++i) {
      record.repetition_index = i;
      check_entry(entry, record, "benchmarks[0]");
      Record other = record;  // not a copy of one that was added before
      other.timing->samples_s.front() += 1e-9 * i;
      runs.add(other, "benchmarks[0]");
    }
  });
  const std::string text = entry.dump();
  const double parsing = processor_seconds([&] {
    for (int i = 0; i < kParsed; ++i) ASSERT_EQ(Json::parse(text).size(), entry.size());
  });
  EXPECT_LT(checking / kRecords, parsing / kParsed / 2);
}

}  // namespace
}  // namespace tbench::results
