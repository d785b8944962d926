// Tests the layout of a results file: as a whole, and field by field if Google Benchmark's readers depend on it.
#include "tbench/results/result_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/results/durable_file.hpp"

namespace tbench::results {
namespace {

using testing::HasSubstr;

std::string read_error(const Json& json) {
  try {
    static_cast<void>(result_file_from_json(json));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ResultJson, IsTheGoldenFileByteForByte) {
  // After an intended change, run report_write_results golden tests/data/results_golden.json and review the difference.
  EXPECT_EQ(pretty(result_file_to_json(support::golden_file())),
            read_whole_file(TBENCH_TEST_DATA "/results_golden.json"));
}

TEST(ResultJson, TheGoldenFileReadsBack) {
  const Json json = Json::parse(read_whole_file(TBENCH_TEST_DATA "/results_golden.json"));
  EXPECT_EQ(result_file_from_json(json), support::golden_file());
}

ResultFile without_fields_of_version_7(ResultFile file) {
  for (Record& record : file.records) {
    if (record.trace) {
      record.trace->sm_clock_counted.reset();  // this field came with version 9
      record.trace->range_kernels.clear();     // these fields came with version 10
      record.trace->phases.clear();
      record.trace->timeline.reset();
      record.trace->ranges.clear();
      record.trace->parts.clear();
      record.trace->attention.clear();
    }
    if (!record.memory) continue;
    record.memory->phases.clear();
    record.memory->peak_ranges.clear();
    record.memory->largest.clear();
    record.memory->unlogged.reset();
    record.memory->timeline.reset();  // this field came with version 10
  }
  return file;
}

TEST(ResultJson, ReadsTheVersionsBeforeThisOne) {
  ResultFile file = support::golden_file();
  file.records.pop_back();  // version 1 had no bursts
  for (Record& record : file.records) {
    if (record.work) record.work->min_flop.reset();  // this field came with version 4
  }
  for (Record& record : file.records) {  // these fields came with version 6
    if (record.memory) record.memory->requested_peak.reset();
    if (record.device) record.device->clock_source.reset();
    if (record.device) record.device->sm_clock_counted.reset();  // this field came with version 8
  }
  Json json = result_file_to_json(without_fields_of_version_7(file));
  json["context"]["tbench"]["schema_version"] = 6;
  // The reader derives the fields that came with version 9 from the names.
  EXPECT_EQ(json["benchmarks"][0]["tbench"].erase("boost_peak_flop_per_s"), 1U);
  EXPECT_EQ(json["benchmarks"][0]["tbench"]["work"].erase("optimizer"), 1U);
  for (Json& entry : json["benchmarks"]) {
    if (!entry.contains("tbench")) continue;
    Json& record = entry["tbench"];
    for (const char* key : {"ranges", "parts", "attention", "range_kernels", "phases"}) {
      if (record.contains("trace")) record["trace"].erase(key);
    }
    for (const char* key : {"phases", "peak_ranges", "largest"}) {
      if (record.contains("memory")) record["memory"].erase(key);
    }
  }
  EXPECT_EQ(result_file_from_json(json), without_fields_of_version_7(file));
  for (Record& record : file.records) record.trace.reset();  // this field came with version 5
  json = result_file_to_json(file);
  json["context"]["tbench"]["schema_version"] = 4;
  EXPECT_EQ(result_file_from_json(json), file);
  json["context"]["tbench"]["schema_version"] = 3;
  EXPECT_EQ(result_file_from_json(json), file);
  json["context"]["tbench"]["schema_version"] = 2;
  for (Json& entry : json["benchmarks"]) {
    if (!entry.contains("tbench")) continue;
    EXPECT_EQ(entry["tbench"].erase("findings"), 1U);
    if (entry["tbench"].contains("work")) {
      EXPECT_EQ(entry["tbench"]["work"].erase("bytes"), 1U);
    }
  }
  EXPECT_EQ(result_file_from_json(json), file);
  json["context"]["tbench"]["schema_version"] = 1;
  for (Json& entry : json["benchmarks"]) {
    if (!entry.contains("tbench") || !entry["tbench"].contains("timing")) continue;
    for (const char* key : {"regime", "launches_per_sample", "resolution_limited"}) {
      EXPECT_EQ(entry["tbench"]["timing"].erase(key), 1U) << key;
    }
  }
  EXPECT_EQ(result_file_from_json(json), file);
}

TEST(ResultJson, AFileWithoutRecordsSurvives) {
  ResultFile file;
  file.environment = support::cpu_environment();
  EXPECT_EQ(result_file_from_json(result_file_to_json(file)), file);
  EXPECT_FALSE(result_file_to_json(file).at("context").at("tbench").contains("interrupted"));
}

TEST(ResultJson, ThePlanSurvivesAndIsLeftOutWhereItIsNotKnown) {
  ResultFile file = support::golden_file();
  EXPECT_FALSE(result_file_to_json(file).at("context").at("tbench").contains("plan"));
  file.plan = {file.records.front().id.name(), "Gemm/m:1"};
  EXPECT_EQ(result_file_from_json(result_file_to_json(file)).plan, file.plan);
  EXPECT_EQ(header_from_json(header_to_json(file), "line 1").plan, file.plan);
}

TEST(ResultJson, OtherProcessesAtTheEndSurviveAndAreLeftOutWhereTheyAreNotKnown) {
  ResultFile file = support::golden_file();
  EXPECT_FALSE(result_file_to_json(file).at("context").at("tbench").contains("other_processes_at_end"));
  for (const std::int64_t count : {0, 2}) {
    file.other_processes_at_end = count;
    EXPECT_EQ(result_file_from_json(result_file_to_json(file)).other_processes_at_end, count);
  }
}

TEST(ResultJson, ContextHasGoogleBenchmarksFieldsAndNoHostName) {
  const Json context = result_file_to_json(support::golden_file()).at("context");
  for (const char* key : {"date", "executable", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "caches", "load_avg",
                          "library_build_type"}) {
    EXPECT_TRUE(context.contains(key)) << key;
  }
  EXPECT_FALSE(context.contains("host_name"));
}

TEST(ResultJson, ATimedCaseIsAnIteration) {
  const Json entry = result_file_to_json(support::golden_file()).at("benchmarks").at(0);
  EXPECT_EQ(entry.at("name"), "Model/size:small/ctx:512/batch:4/pass:train_step/precision:bf16/impl:sdpa");
  EXPECT_EQ(entry.at("run_type"), "iteration");
  EXPECT_EQ(entry.at("iterations"), 9);
  EXPECT_DOUBLE_EQ(entry.at("real_time").get<double>(), 25.312);
  EXPECT_DOUBLE_EQ(entry.at("cpu_time").get<double>(), 25.5);
  EXPECT_EQ(entry.at("time_unit"), "ms");
  for (const auto& [name, value] : counters_of(support::full_record())) EXPECT_EQ(entry.at(name), value) << name;
  EXPECT_FALSE(entry.contains("label"));
}

TEST(ResultJson, AFailedCaseHasNoTimeAndSaysWhy) {
  const Json entry = result_file_to_json(support::golden_file()).at("benchmarks").at(1);
  EXPECT_FALSE(entry.contains("real_time"));
  EXPECT_FALSE(entry.contains("cpu_time"));
  EXPECT_EQ(entry.at("run_type"), "aggregate");
  EXPECT_EQ(entry.at("aggregate_name"), "oom");
  EXPECT_EQ(entry.at("error_occurred"), true);
  EXPECT_EQ(entry.at("error_message"), "out of memory: 8589934592 bytes asked for");
  EXPECT_NE(entry.at("time_unit"), "ms");
}

TEST(ResultJson, IndexesNumberFamiliesAndCases) {
  std::vector<std::string> indexes;
  const Json json = result_file_to_json(support::golden_file());
  for (const Json& entry : json.at("benchmarks")) {
    indexes.push_back(entry.at("family_index").dump() + "." + entry.at("per_family_instance_index").dump());
  }
  // full, oom, two repetitions of one case and its four aggregates, the other families
  const std::vector<std::string> expected{"0.0", "0.1", "0.2", "0.2", "0.2", "0.2", "0.2", "0.2", "1.0", "2.0"};
  EXPECT_EQ(indexes, expected);
}

TEST(ResultJson, RepetitionsHaveAggregates) {
  const Json entries = result_file_to_json(support::golden_file()).at("benchmarks");
  // The medians are 8 ms and 16 ms: mean 12, median 12, stddev |16 - 8| / sqrt(2), cv stddev / 12.
  const double deviation = 8 / std::sqrt(2.0);
  struct Expected {
    const char* name;
    const char* unit;
    double value;
  };
  const std::vector<Expected> expected{{"mean", "time", 12},
                                       {"median", "time", 12},
                                       {"stddev", "time", deviation},
                                       {"cv", "percentage", deviation / 12}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Json& entry = entries.at(4 + i);
    const std::string run = entries.at(2).at("name").get<std::string>();
    EXPECT_EQ(entry.at("name"), run + "_" + expected[i].name);
    EXPECT_EQ(entry.at("run_name"), run);
    EXPECT_EQ(entry.at("aggregate_name"), expected[i].name);
    EXPECT_EQ(entry.at("aggregate_unit"), expected[i].unit);
    EXPECT_EQ(entry.at("iterations"), 2);
    EXPECT_DOUBLE_EQ(entry.at("real_time").get<double>(), expected[i].value);
    EXPECT_DOUBLE_EQ(entry.at("median_ms").get<double>(), expected[i].value) << "counters are aggregated alike";
    EXPECT_FALSE(entry.contains("tbench"));
  }
  EXPECT_EQ(entries.at(3).at("label"), "unstable");
}

TEST(ResultJson, FailedRepetitionsAreLeftOutOfAggregates) {
  ResultFile file = support::golden_file();
  Record failed =
      support::failed_record(support::model_id("forward", "eager"), Status::kTimeout, "no sign of life for 120 s");
  failed.repetitions = 3;
  failed.repetition_index = 2;
  file.records = {file.records[2], failed};
  EXPECT_EQ(result_file_to_json(file).at("benchmarks").size(), 2U) << "one time makes no statistics";
  file.records = {support::golden_file().records[2], support::golden_file().records[3], failed};
  const Json entries = result_file_to_json(file).at("benchmarks");
  ASSERT_EQ(entries.size(), 7U);
  EXPECT_DOUBLE_EQ(entries.at(3).at("real_time").get<double>(), 12);
  EXPECT_EQ(result_file_from_json(result_file_to_json(file)), file);
}

TEST(ResultJson, RefusesACounterWithTheNameOfAField) {
  for (const char* name : {"real_time", "name", "tbench", "label"}) {
    ResultFile file = support::golden_file();
    file.records[0].counters[name] = 1;
    EXPECT_THROW(static_cast<void>(result_file_to_json(file)), std::invalid_argument) << name;
  }
}

TEST(ResultJson, IsStrict) {
  struct Plant {
    const char* pointer;
    Json value;
    const char* error;
  };
  const std::vector<Plant> plants{
      {"/context/tbench/schema_version", 12, "schema version 12, and this program reads versions 1 to 11"},
      {"/context/tbench/surprise", 1, "context.tbench.surprise: unknown field"},
      {"/context/tbench/options/seed", 1, "context.tbench.options.seed: expected a string"},
      {"/context/date", "yesterday", "context.date: \"yesterday\" contradicts"},
      {"/context/num_cpus", 1, "context.num_cpus: 1 contradicts 16"},
      {"/context/load_avg", "low", "context.load_avg: expected an array"},
      {"/benchmarks/0/name", "Model/size:medium", "breaks the rule 'name'"},
      {"/benchmarks/1/real_time", 0.0, "breaks the rule 'real_time'"},
      {"/benchmarks/1/tbench/status", "lost", "benchmarks[1].tbench.status: unknown value 'lost'"},
      {"/benchmarks/1/tbench/machine", 1, "breaks the rule 'indexes': machine is 1, and there are 1"},
      {"/surprise", 1, "file.surprise: unknown field"},
  };
  for (const Plant& plant : plants) {
    Json json = result_file_to_json(support::golden_file());
    json[Json::json_pointer{plant.pointer}] = plant.value;
    EXPECT_THAT(read_error(json), HasSubstr(plant.error)) << plant.pointer;
  }
  Json json = result_file_to_json(support::golden_file());
  json["benchmarks"][0].erase("tbench");
  EXPECT_THAT(read_error(json), HasSubstr("benchmarks[0].tbench: the field is missing"));
  json = result_file_to_json(support::golden_file());
  json["benchmarks"][0].erase("real_time");
  EXPECT_THAT(read_error(json), HasSubstr("breaks the rule 'real_time'"));
}

TEST(ResultJson, TheHeaderSurvives) {
  ResultFile expected = support::golden_file();
  expected.records.clear();
  EXPECT_EQ(header_from_json(header_to_json(support::golden_file()), "line 1"), expected);
}

TEST(Pretty, IndentsObjectsAndKeepsPlainArraysOnOneLine) {
  const Json json = Json::parse(R"({"a": [1, 2.5, "x"], "b": {"c": [], "d": {}}, "e": [{"f": null}, [1]]})");
  EXPECT_EQ(pretty(json), R"({
  "a": [1, 2.5, "x"],
  "b": {
    "c": [],
    "d": {}
  },
  "e": [
    {
      "f": null
    },
    [1]
  ]
}
)");
}

TEST(Pretty, ReplacesInvalidUtf8InsteadOfLosingTheFile) {
  const std::string text = pretty(Json{{"reason", "bad \xFF byte"}});
  EXPECT_EQ(Json::parse(text).at("reason"), "bad \uFFFD byte");
}

}  // namespace
}  // namespace tbench::results
