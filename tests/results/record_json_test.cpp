// Tests that records and environments survive the conversion to JSON and back, and that invalid ones are refused both
// ways.
#include "tbench/results/record_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/sample_results.hpp"

namespace tbench::results {
namespace {

using testing::HasSubstr;

/// Converts the record to text and back, as a file does.
Record round_trip(const Record& record) {
  return record_from_json(Json::parse(record_to_json(record).dump()), "record");
}

std::string write_error(const Record& record) {
  try {
    static_cast<void>(record_to_json(record));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

std::string read_error(const Json& json) {
  try {
    static_cast<void>(record_from_json(json, "here"));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(RecordJson, EveryFieldSurvives) {
  const Record record = support::full_record();
  EXPECT_EQ(round_trip(record), record);
}

TEST(RecordJson, RecordsWithoutOptionalPartsSurvive) {
  const Record timed = support::timed_record(support::model_id("forward", "eager"), Seconds{0.0123});
  EXPECT_EQ(round_trip(timed), timed);
  const Record failed = support::failed_record(support::model_id("forward", "eager"), Status::kCrashed,
                                               "signal 11: \"quoted\"\nline 2 µ");
  EXPECT_EQ(round_trip(failed), failed);
}

TEST(RecordJson, EveryStatusAndStopReasonSurvives) {
  for (const Status status : kAllOf<Status>) {
    Record record = has_time(status) ? support::timed_record(support::model_id("forward", "eager"), Seconds{0.01})
                                     : support::failed_record(support::model_id("forward", "eager"), status, "why");
    record.status = status;
    EXPECT_EQ(round_trip(record), record) << to_string(status);
  }
  for (const StopReason reason : {StopReason::kPrecise, StopReason::kSpreadSettled, StopReason::kTimeLimit,
                                  StopReason::kSampleLimit, StopReason::kFixedCount}) {
    Record record = support::full_record();
    record.timing->stop_reason = reason;
    EXPECT_EQ(round_trip(record), record) << to_string(reason);
  }
}

TEST(RecordJson, BurstsSurviveAndTellHowTheyWereTaken) {
  Record record = support::burst_record(support::model_id("forward", "eager"), Seconds{5e-6});
  EXPECT_EQ(round_trip(record), record);
  const Json timing = record_to_json(record).at("timing");
  EXPECT_EQ(timing.at("regime"), "burst");
  EXPECT_EQ(timing.at("l2"), "cold");
  EXPECT_EQ(timing.at("launches_per_sample"), 13);
  EXPECT_EQ(timing.at("resolution_limited"), true);
  EXPECT_FALSE(timing.contains("wall_s") || timing.contains("drain_s"));
  record.timing->l2 = L2State::kWarm;
  EXPECT_EQ(round_trip(record), record);
  record.timing->l2.reset();  // as on a CPU
  EXPECT_EQ(round_trip(record), record);
}

TEST(RecordJson, StepsAndBurstsKeepToTheirFields) {
  const Record burst = support::burst_record(support::model_id("forward", "eager"), Seconds{5e-6});
  const Record steps = support::timed_record(support::model_id("forward", "eager"), Seconds{0.01});
  const auto error = [](Record record, const std::function<void(Timing&)>& spoil) {
    spoil(*record.timing);
    return write_error(record);
  };
  EXPECT_THAT(error(burst, [](Timing& t) { t.wall = Seconds{1}; }), HasSubstr("a burst has no wall_s"));
  EXPECT_THAT(error(burst, [](Timing& t) { t.drain = Seconds{1}; }), HasSubstr("a burst has no wall_s"));
  EXPECT_THAT(error(steps, [](Timing& t) { t.wall.reset(); }), HasSubstr("wall_s and drain_s are missing"));
  EXPECT_THAT(error(steps, [](Timing& t) { t.drain.reset(); }), HasSubstr("wall_s and drain_s are missing"));
  EXPECT_THAT(error(steps, [](Timing& t) { t.l2 = L2State::kCold; }), HasSubstr("only a burst has l2"));
  EXPECT_THAT(error(steps, [](Timing& t) { t.launches_per_sample = 2; }), HasSubstr("only a burst has l2"));
  EXPECT_THAT(error(steps, [](Timing& t) { t.resolution_limited = true; }), HasSubstr("only a burst has l2"));
  Json json = record_to_json(steps);
  json["timing"].erase("wall_s");
  EXPECT_THAT(read_error(json), HasSubstr("breaks the rule 'regime': wall_s and drain_s are missing"));
  json = record_to_json(burst);
  json["timing"]["regime"] = "bursts";
  EXPECT_THAT(read_error(json), HasSubstr("here.timing.regime: unknown value 'bursts'"));
  json["timing"]["regime"] = "burst";
  json["timing"]["l2"] = "tepid";
  EXPECT_THAT(read_error(json), HasSubstr("here.timing.l2: unknown value 'tepid'"));
}

TEST(RecordJson, ExtremeNumbersSurvive) {
  Record record = support::full_record();
  using Limits = std::numeric_limits<double>;
  record.timing->samples_s = {Limits::max(), Limits::min(), Limits::denorm_min(), Limits::epsilon(), 1e22, 123456789.0};
  record.memory->allocated_peak = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(round_trip(record), record);
}

TEST(RecordJson, WhatIsUnknownIsAbsent) {
  Record one_sample = support::timed_record(support::model_id("forward", "eager"), Seconds{0.01});
  support::set_samples(*one_sample.timing, {0.01});
  const Json timed = record_to_json(one_sample);
  for (const char* key :
       {"reason", "work", "datasheet_peak_flop_per_s", "device", "memory", "verification", "requested_bytes"}) {
    EXPECT_FALSE(timed.contains(key)) << key;
  }
  for (const char* key : {"standard_deviation_s", "relative_iqr", "relative_half_width"}) {
    EXPECT_FALSE(timed.at("timing").contains(key)) << key;
  }
  EXPECT_FALSE(timed.at("timing").at("warm_up").contains("first_s"));
  EXPECT_FALSE(record_to_json(support::failed_record(support::model_id("forward", "eager"), Status::kOom, "x"))
                   .contains("timing"));
}

TEST(RecordJson, ParametersKeepTheirOrder) {
  const Json json = record_to_json(support::full_record());
  std::string keys;
  for (const auto& [key, value] : json.at("parameters").items()) keys += key + " ";
  EXPECT_EQ(keys, "size ctx batch pass precision impl ");
}

TEST(RecordJson, RefusesToWriteANumberThatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  struct Plant {
    const char* field;
    std::function<void(Record&)> spoil;
  };
  const std::vector<Plant> plants{
      {"timing.samples_s[3]", [&](Record& r) { r.timing->samples_s[3] = nan; }},
      {"timing.median_s", [&](Record& r) { r.timing->median = {infinity}; }},
      {"timing.relative_iqr", [&](Record& r) { r.timing->relative_iqr = -infinity; }},
      {"timing.warm_up.first_s", [&](Record& r) { r.timing->warm_up.first = Seconds{nan}; }},
      {"timing.phases[1].median_s", [&](Record& r) { r.timing->phases[1].median = {nan}; }},
      {"work.flop", [&](Record& r) { r.work->flop = {infinity}; }},
      {"datasheet_peak_flop_per_s", [&](Record& r) { r.peak_at_clock = FlopPerSecond{nan}; }},
      {"device.power_w", [&](Record& r) { r.device->power = Watts{nan}; }},
      {"verification.worst_error", [&](Record& r) { r.verification->worst_error = nan; }},
      {"counters.skipped_steps", [&](Record& r) { r.counters["skipped_steps"] = infinity; }},
      {"harness_s", [&](Record& r) { r.harness = {nan}; }},
  };
  for (const Plant& plant : plants) {
    Record record = support::full_record();
    plant.spoil(record);
    const std::string error = write_error(record);
    EXPECT_THAT(error, HasSubstr(plant.field));
    EXPECT_THAT(error, HasSubstr("not a finite number"));
    EXPECT_THAT(error, HasSubstr("Model/size:small")) << "the case is named";
  }
}

TEST(RecordJson, RefusesToWriteATimeThatTheStatusDoesNotHave) {
  Record record = support::full_record();
  record.status = Status::kIncorrect;
  EXPECT_THAT(write_error(record), HasSubstr("the status is incorrect"));
  record = support::failed_record(support::model_id("forward", "eager"), Status::kOom, "x");
  record.status = Status::kOk;
  EXPECT_THAT(write_error(record), HasSubstr("the status is ok"));
}

TEST(RecordJson, RefusesToWriteAParameterTwice) {
  const Record record = support::timed_record(CaseId{"F", {{"a", "1"}, {"a", "2"}}}, Seconds{1});
  EXPECT_THAT(write_error(record), HasSubstr("parameters.a: given twice"));
}

TEST(RecordJson, RefusesToReadWhatIsMissing) {
  const Json whole = record_to_json(support::full_record());
  for (const char* key :
       {"family", "parameters", "status", "repetition_index", "repetitions", "counters", "harness_s"}) {
    Json json = whole;
    json.erase(key);
    EXPECT_THAT(read_error(json), HasSubstr(std::string{"here."} + key));
  }
  Json untimed = whole;
  untimed.erase("timing");
  EXPECT_THAT(read_error(untimed), HasSubstr("breaks the rule 'time'"));
  for (const auto& [key, value] : whole.at("timing").items()) {
    Json json = whole;
    json["timing"].erase(key);
    const std::set<std::string> optional{"standard_deviation_s", "relative_iqr", "relative_half_width"};
    const std::set<std::string> late{"regime", "launches_per_sample", "resolution_limited"};  // not in version 1
    const std::set<std::string> of_steps{"wall_s", "drain_s"};
    const std::string expected = optional.contains(key) || late.contains(key) ? "no error"
                                 : of_steps.contains(key) ? "breaks the rule 'regime': wall_s and drain_s are missing"
                                                          : "here.timing." + key + ": the field is missing";
    EXPECT_THAT(read_error(json), testing::EndsWith(expected));
  }
}

TEST(RecordJson, RefusesToReadAnotherTypeOrValue) {
  struct Plant {
    const char* pointer;
    Json value;
    const char* error;
  };
  const std::vector<Plant> plants{
      {"/status", "fine", "here.status: unknown value 'fine'"},
      {"/status", 1, "here.status: expected a string, found number"},
      {"/status", "oom", "breaks the rule 'time': there is a time exactly if"},
      {"/timing/stop_reason", "bored", "here.timing.stop_reason: unknown value 'bored'"},
      {"/timing/median_s", nullptr, "here.timing.median_s: expected a number, found null"},
      {"/timing/median_s", "0.1", "here.timing.median_s: expected a number, found string"},
      {"/timing/samples_s", 0.1, "here.timing.samples_s: expected an array"},
      {"/timing/samples_s/2", true, "here.timing.samples_s[2]: expected a number"},
      {"/timing/flagged_samples/0", -1, "here.timing.flagged_samples[0]: -1 is out of range"},
      {"/timing/host_bound", 1, "here.timing.host_bound: expected true or false"},
      {"/timing/phases/0", 1, "here.timing.phases[0]: expected an object"},
      {"/repetitions", 1.5, "here.repetitions: expected a whole number"},
      {"/memory/allocated_peak_bytes", 18446744073709551615U,
       "here.memory.allocated_peak_bytes: 18446744073709551615 is"},
      {"/memory/split_bytes/gradients", "many", "here.memory.split_bytes.gradients: expected a whole number"},
      {"/parameters/ctx", 512, "here.parameters.ctx: expected a string"},
      {"/work", Json::array(), "here.work: expected an object, found array"},
      {"/surprise", 1, "here.surprise: unknown field"},
      {"/timing/surprise", 1, "here.timing.surprise: unknown field"},
      {"/device/surprise", 1, "here.device.surprise: unknown field"},
  };
  for (const Plant& plant : plants) {
    Json json = record_to_json(support::full_record());
    json[Json::json_pointer{plant.pointer}] = plant.value;
    EXPECT_THAT(read_error(json), HasSubstr(plant.error)) << plant.pointer;
  }
  EXPECT_THAT(read_error(Json::array()), HasSubstr("here: expected an object, found array"));
}

TEST(EnvironmentJson, SurvivesWithAndWithoutAGpu) {
  for (const Environment& environment : {support::gpu_environment(), support::cpu_environment()}) {
    const Json json = Json::parse(environment_to_json(environment).dump());
    EXPECT_EQ(environment_from_json(json, "environment"), environment);
  }
  EXPECT_FALSE(environment_to_json(support::cpu_environment()).contains("gpu"));
  Environment environment = support::gpu_environment();
  environment.gpu->ecc.reset();
  environment.gpu->power_limit_w.reset();
  environment.cpu_limits = CpuLimits{.affinity = "0-7,16", .quota = 8.5};
  EXPECT_EQ(environment_from_json(environment_to_json(environment), "environment"), environment);
  environment.cpu_limits->quota.reset();
  environment.commit += "-dirty";
  environment.diff_digest = "0123456789abcdef";
  environment.compile_options = "-O3 -DNDEBUG, CUDA -O3, GPUs 90a";
  environment.variant = "no_l2";
  EXPECT_EQ(environment_from_json(environment_to_json(environment), "environment"), environment);
}

TEST(EnvironmentJson, IsStrict) {
  Json json = environment_to_json(support::gpu_environment());
  json["gpu"].erase("sm_count");
  EXPECT_THROW(static_cast<void>(environment_from_json(json, "e")), std::runtime_error);
  json = environment_to_json(support::gpu_environment());
  json["host_name"] = "x";
  EXPECT_THROW(static_cast<void>(environment_from_json(json, "e")), std::runtime_error);
  Environment environment = support::gpu_environment();
  environment.gpu->power_limit_w = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(environment_to_json(environment)), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::results
