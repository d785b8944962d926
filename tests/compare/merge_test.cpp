#include "tbench/compare/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::compare {
namespace {

using results::NamedResults;
using results::ResultFile;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kSeed = 7;

std::vector<CaseId> selection() {
  std::vector<CaseId> cases;
  for (const char* size : {"small", "medium", "large", "xl", "2.7B"}) {
    for (const char* pass : {"forward", "train_step"}) cases.push_back(support::model_id(pass, "sdpa", size));
  }
  return cases;
}

CaseId ceiling(const std::string& what) { return CaseId{"Ceiling", {{"what", what}, {"regime", "burst"}}}; }

/// Returns a file in the order in which transformer_bench writes it: process by process, ceilings first.
ResultFile run_of(const std::vector<CaseId>& cases, std::int64_t processes = 1,
                  const std::vector<std::string>& ceilings = {"copy", "launch"}) {
  ResultFile file = support::golden_file();
  file.interrupted = false;
  file.records.clear();
  file.options = {{"suite", "standard"}, {"seed", std::to_string(kSeed)}, {"filter", "."}};
  if (processes > 1) file.options["processes"] = std::to_string(processes);
  for (std::int64_t process = 0; process < processes; ++process) {
    std::vector<CaseId> order = cases;
    if (processes > 1) {
      std::ranges::sort(order, {}, [&](const CaseId& id) { return random_rank(id.name(), process, kSeed); });
    }
    for (std::size_t i = ceilings.size(); i-- > 0;) order.insert(order.begin(), ceiling(ceilings[i]));
    for (const CaseId& id : order) {
      Record record = support::timed_record(id, Seconds{0.001 * static_cast<double>(id.name().size())});
      record.repetition_index = process;
      record.repetitions = processes;
      file.records.push_back(std::move(record));
    }
  }
  return file;
}

NamedResults shard_of(std::int64_t index, std::int64_t count, std::int64_t processes = 1) {
  ResultFile file = run_of(cases_of({index, count}, selection()), processes);
  file.options["shard"] = to_string(Shard{index, count});
  file.options["shared_cases"] = std::to_string(selection().size());
  return {"shard" + std::to_string(index) + ".json", std::move(file)};
}

/// Returns the same shard, divided by durations. The positions of its cases follow no rule.
NamedResults timed_shard_of(const std::vector<Places>& places, std::int64_t index, std::int64_t processes = 1) {
  const Shard shard{index, static_cast<std::int64_t>(places.size())};
  const Places& own = places[static_cast<std::size_t>(index - 1)];
  ResultFile file = run_of(cases_at(shard, own, selection()), processes);
  file.options["shard"] = to_string(shard);
  file.options["shared_cases"] = std::to_string(selection().size());
  file.options["shard_places"] = format_places(own);
  file.options["durations"] = "h200@20df4902425a";
  return {"shard" + std::to_string(index) + ".json", std::move(file)};
}

const std::vector<Places> kTimedPlaces{{0, 1, 2, 3, 9}, {4, 8}, {5, 6, 7}};

std::vector<NamedResults> timed_shards(std::int64_t processes = 1) {
  std::vector<NamedResults> files;
  for (std::int64_t index = 1; index <= 3; ++index) files.push_back(timed_shard_of(kTimedPlaces, index, processes));
  return files;
}

/// Returns the shards that have a case.
std::vector<NamedResults> shards(std::int64_t count, std::int64_t processes = 1) {
  std::vector<NamedResults> files;
  for (std::int64_t index = 1; index <= std::min<std::int64_t>(count, 10); ++index) {
    files.push_back(shard_of(index, count, processes));
  }
  return files;
}

std::vector<std::string> names_of(const ResultFile& file) {
  std::vector<std::string> names;
  for (const Record& record : file.records) names.push_back(record.id.name());
  return names;
}

/// Returns the message that refuses files which equal the golden file, except for the `change` of the second one.
template <class Error, class Change>
std::string refusal(Change change) {
  std::vector<NamedResults> files = shards(3);
  change(files[1].file);
  try {
    static_cast<void>(merge(std::move(files)));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Merge, ShardsAreTheUndividedRun) {
  for (const std::int64_t processes : {1, 3}) {
    const ResultFile whole = run_of(selection(), processes);
    for (const std::int64_t count : {1, 2, 3, 4, 7, 10, 12}) {
      std::vector<NamedResults> files = shards(count, processes);
      std::ranges::reverse(files);
      const Merged merged = merge(std::move(files));
      EXPECT_THAT(merged.missing, IsEmpty()) << processes << ", " << count;
      EXPECT_EQ(names_of(merged.file), names_of(whole)) << processes << ", " << count;
      EXPECT_EQ(merged.file, whole) << processes << ", " << count;
    }
  }
}

TEST(Merge, ThePlanIsThatOfAllParts) {
  std::vector<NamedResults> files = shards(2);
  files[0].file.plan = {"Ceiling/what:copy", "Gemm/m:1"};
  files[1].file.plan = {"Ceiling/what:copy", "Gemm/m:2"};
  EXPECT_THAT(merge(std::move(files)).file.plan, ElementsAre("Ceiling/what:copy", "Gemm/m:1", "Gemm/m:2"));
}

TEST(Merge, RepetitionsStayTogether) {
  const auto repeated = [](ResultFile file) {
    file.options["repetitions"] = "2";
    std::vector<Record> twice;
    for (const Record& record : file.records) {
      for (std::int64_t index = 0; index < 2; ++index) {
        twice.push_back(record);
        twice.back().repetition_index = index;
        twice.back().repetitions = 2;
      }
    }
    file.records = std::move(twice);
    return file;
  };
  std::vector<NamedResults> files = shards(4);
  for (NamedResults& one : files) one.file = repeated(std::move(one.file));
  const Merged merged = merge(std::move(files));
  EXPECT_THAT(merged.missing, IsEmpty());
  EXPECT_EQ(merged.file, repeated(run_of(selection())));
}

TEST(Merge, CeilingsAreTheFirstShardsAndThatIsSaid) {
  std::vector<NamedResults> files = shards(2);
  for (Record& record : files[1].file.records) record.timing->median = Seconds{1};
  files[1].file.records.front().id = ceiling("read");  // the first shard does not have it
  const Merged merged = merge(std::move(files));
  EXPECT_THAT(names_of(merged.file), ::testing::Contains("Ceiling/what:read/regime:burst").Times(1));
  for (const Record& record : merged.file.records) {
    if (record.id == ceiling("launch")) {
      EXPECT_LT(record.timing->median, Seconds{1});
    }
  }
  EXPECT_THAT(merged.notes, ElementsAre(AllOf(HasSubstr("1 ceilings"), HasSubstr("the first, 'shard1.json'"))));
}

TEST(Merge, SaysWhichShardsAndCasesAreMissing) {
  std::vector<NamedResults> files = shards(4);  // the shards have 3, 2, 3 and 2 cases
  files[1].file.records.pop_back();
  files.erase(files.begin() + 2);
  Merged merged = merge(std::move(files));
  EXPECT_THAT(merged.missing, ElementsAre("1 of 2 of shard 2/4 ('shard2.json')", "shard 3/4, 3 cases"));
  EXPECT_TRUE(merged.file.interrupted);
  // The merged cases are in the order of the undivided run, so that --tb_resume can continue it.
  std::vector<std::string> expected = names_of(run_of(selection()));
  const std::vector<std::string> names = names_of(merged.file);
  std::erase_if(expected, [&](const std::string& name) { return std::ranges::find(names, name) == names.end(); });
  EXPECT_EQ(names, expected);

  std::vector<NamedResults> processes = shards(2, 3);
  processes[0].file.records.pop_back();  // the case is missing only in the last process
  EXPECT_THAT(merge(std::move(processes)).missing, ElementsAre("1 of 15 of shard 1/2 ('shard1.json')"));
}

TEST(Merge, ShardsByDurationsAreTheUndividedRun) {
  for (const std::int64_t processes : {1, 3}) {
    ResultFile whole = run_of(selection(), processes);
    whole.options["durations"] = "h200@20df4902425a";
    std::vector<NamedResults> files = timed_shards(processes);
    std::ranges::reverse(files);
    const Merged merged = merge(std::move(files));
    EXPECT_THAT(merged.missing, IsEmpty()) << processes;
    EXPECT_EQ(merged.file, whole) << processes;
  }
}

TEST(Merge, SaysWhatIsMissingOfShardsByDurations) {
  std::vector<NamedResults> files = timed_shards();
  files[0].file.records.pop_back();
  files.pop_back();
  EXPECT_THAT(merge(files).missing, ElementsAre("1 of 5 of shard 1/3 ('shard1.json')", "shard 3/3, 3 cases"));
  files.pop_back();
  EXPECT_THAT(merge(files).missing, ElementsAre("1 of 5 of shard 1/3 ('shard1.json')", "shards 2/3 and 3/3, 5 cases"));
}

TEST(Merge, RefusesShardsByDifferentDurations) {
  const auto refusal_of = [](auto change) {
    std::vector<NamedResults> files = timed_shards();
    change(files);
    try {
      static_cast<void>(merge(std::move(files)));
    } catch (const UsageError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_THAT(
      refusal_of([](auto& files) { files[1].file.options["durations"] = "h200@000000000000"; }),
      AllOf(HasSubstr("'shard1.json' is a shard made with the durations h200@20df4902425a and 'shard2.json' with "
                      "h200@000000000000"),
            HasSubstr("with the other's --tb_durations")));
  EXPECT_THAT(refusal_of([](auto& files) { files[2] = shard_of(3, 3); }), HasSubstr("and 'shard3.json' with none"));
  EXPECT_THAT(refusal_of([](auto& files) { files[1].file.options["shard_places"] = "3,8"; }),
              HasSubstr("'shard1.json' and 'shard2.json' both have place 3 (shard_places): one was edited."));
  for (const char* places : {"4,10", "8,4", "all"}) {
    EXPECT_THAT(refusal_of([&](auto& files) { files[1].file.options["shard_places"] = places; }),
                HasSubstr(std::string{"'shard2.json': shard_places '"} + places + "' are not places of 10 cases."));
  }
  EXPECT_THAT(refusal_of([](auto& files) { files[1].file.options["shard_places"] = "4"; }),
              HasSubstr("'shard2.json' has 2 cases, though shard 2/3 of 10 has 1"));
}

TEST(Merge, SeveralGpusOfAKindAreNoneInParticular) {
  std::vector<NamedResults> files = shards(3);
  files[1].file.environment.gpu->uuid = "GPU-1";
  files[1].file.environment.date = "2026-01-01T00:00:00Z";
  files[2].file.environment.gpu->other_processes = 2;
  files[1].file.other_processes_at_end = 1;
  files[2].file.options["context.node"] = "n3";
  files[0].file.options["context.node"] = "n1";
  const ResultFile merged = merge(std::move(files)).file;
  EXPECT_EQ(merged.environment.gpu->uuid, "");
  EXPECT_EQ(merged.environment.gpu->other_processes, 2);
  EXPECT_EQ(merged.other_processes_at_end, 1);
  EXPECT_EQ(merged.environment.date, "2026-01-01T00:00:00Z");
  ASSERT_EQ(merged.environment.machines.size(), 2U);
  EXPECT_EQ(merged.environment.machines[1].gpu_uuid, "GPU-1");
  EXPECT_EQ(merged.environment.machines[1].date, "2026-01-01T00:00:00Z");
  std::map<std::int64_t, int> records_of;
  for (const Record& record : merged.records) ++records_of[record.machine];
  EXPECT_EQ(records_of, (std::map<std::int64_t, int>{{0, 9}, {1, 3}})) << "the second shard is of another GPU";
  const ResultFile again = results::result_file_from_json(results::result_file_to_json(merged));
  EXPECT_EQ(again, merged);
  EXPECT_EQ(merged.options.at("context.node"), "n1, n3");
  EXPECT_FALSE(merged.options.contains("shard"));
}

TEST(Merge, PartsOfAFilterEachFollowEachOther) {
  std::vector<CaseId> cases = selection();
  const std::vector<CaseId> small{cases.begin(), cases.begin() + 2};
  const std::vector<CaseId> rest{cases.begin() + 2, cases.end()};
  std::vector<NamedResults> files{{"a.json", run_of(small)}, {"b.json", run_of(rest, 1, {"copy"})}};
  files[0].file.options["filter"] = "size:small";
  files[1].file.options["filter"] = "size:(medium|large|xl|2.7B)";
  files[0].file.options["burst_min_time_s"] = "0.1";  // the other file has no case in this regime
  const Merged merged = merge(files);
  ResultFile expected = run_of(cases);
  expected.options["filter"] = "(size:(medium|large|xl|2.7B))|(size:small)";
  expected.options["burst_min_time_s"] = "0.1";
  EXPECT_EQ(merged.file, expected);
  EXPECT_THAT(merged.missing, IsEmpty());
  files[1].file.interrupted = true;
  EXPECT_THAT(merge(files).missing, ElementsAre("the rest of 'b.json'"));
  files[1].file.options["filter"] = "-size:small";
  EXPECT_THROW(static_cast<void>(merge(files)), NotComparable);
}

TEST(Merge, ProcessesOfTheSameCasesAreFurtherRepetitions) {
  const ResultFile whole = run_of(selection(), 3);
  std::vector<NamedResults> files{{"a.json", whole}, {"b.json", whole}};
  std::erase_if(files[0].file.records, [](const Record& record) { return record.repetition_index == 1; });
  std::erase_if(files[1].file.records, [](const Record& record) { return record.repetition_index != 1; });
  EXPECT_EQ(merge(std::move(files)).file, whole);
}

TEST(Merge, RefusesWhatIsNotOfOneKind) {
  const auto gpu = refusal<NotComparable>([](ResultFile& file) { file.environment.gpu->name = "NVIDIA H100"; });
  EXPECT_THAT(gpu, AllOf(HasSubstr("different machines: GPU: NVIDIA H100 in 'shard2.json', NVIDIA H200 in "
                                   "'shard1.json' and 'shard3.json'"),
                         HasSubstr("merge the files of each kind apart")));
  const auto memory = refusal<NotComparable>([](ResultFile& file) { file.environment.gpu->memory_bytes /= 2; });
  EXPECT_THAT(memory, HasSubstr("GPU memory: 140 GiB in 'shard1.json' and 'shard3.json', 70 GiB in 'shard2.json'"));
  const auto policy = refusal<NotComparable>([](ResultFile& file) { file.environment.clock_policy = "locked"; });
  EXPECT_THAT(policy, HasSubstr("clock policy: default in 'shard1.json' and 'shard3.json', locked in 'shard2.json'"));
  const auto driver = refusal<NotComparable>([](ResultFile& file) { file.environment.versions["driver"] = "590"; });
  EXPECT_THAT(driver, AllOf(HasSubstr("different builds: driver: 580.159 in"), HasSubstr("590 in 'shard2.json'")));
  const auto torch = refusal<NotComparable>([](ResultFile& file) { file.environment.versions.erase("libtorch"); });
  EXPECT_THAT(torch, HasSubstr("libtorch: 2.11.0 in 'shard1.json' and 'shard3.json', none in 'shard2.json'"));
  const auto build = refusal<NotComparable>([](ResultFile& file) { file.environment.sources_digest = "abc"; });
  EXPECT_THAT(build, HasSubstr("sources: abc in 'shard2.json'"));
  const auto limit = refusal<NotComparable>([](ResultFile& file) { file.options["memory_limit"] = "80"; });
  EXPECT_THAT(limit, AllOf(HasSubstr("different options: memory_limit: 80 in 'shard2.json', none in"),
                           HasSubstr("only --tb_shard, or --benchmark_filter, may differ")));
  const auto suite = refusal<NotComparable>([](ResultFile& file) {
    file.options.erase("suite");
    file.options["study"] = "precision";
  });
  EXPECT_THAT(suite, AllOf(HasSubstr("study: none in"), HasSubstr("suite: none in 'shard2.json', standard in")));
  const auto filter = refusal<NotComparable>([](ResultFile& file) { file.options["filter"] = "small"; });
  EXPECT_THAT(filter, HasSubstr("filter: . in"));
  const auto time = refusal<NotComparable>([](ResultFile& file) { file.options["shared_cases"] = "11"; });
  EXPECT_THAT(time, HasSubstr("shared_cases: 10 in"));
}

TEST(Merge, TimesOfARegimeAreTheSameWhereverTheyAre) {
  std::vector<NamedResults> files = shards(3);
  files[0].file.options["min_time_s"] = "0.5";
  EXPECT_EQ(merge(files).file.options.at("min_time_s"), "0.5");
  files[2].file.options["min_time_s"] = "2";
  EXPECT_THROW(static_cast<void>(merge(files)), NotComparable);
}

TEST(Merge, RefusesTheSameCaseTwice) {
  std::vector<NamedResults> files{{"a.json", run_of(selection())}, {"b.json", run_of({selection().front()})}};
  try {
    static_cast<void>(merge(files));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("size:small/ctx:512/batch:4/pass:forward"),
                                    HasSubstr("is in 'a.json' and in 'b.json'"), HasSubstr("'tbench diff'")));
  }
}

TEST(Merge, RefusesShardsThatAreNotOfOneDivision) {
  EXPECT_THAT(refusal<UsageError>([](ResultFile& file) { file.options["shard"] = "1/3"; }),
              HasSubstr("'shard1.json' and 'shard2.json' are both shard 1/3"));
  EXPECT_THAT(refusal<UsageError>([](ResultFile& file) { file.options["shard"] = "2/4"; }),
              HasSubstr("'shard1.json' is shard 1/3 and 'shard2.json' is shard 2/4"));
  EXPECT_THAT(refusal<UsageError>([](ResultFile& file) { file.options.erase("shard"); }),
              HasSubstr("'shard1.json' and 'shard3.json' are a shard (--tb_shard), 'shard2.json' is none"));
  EXPECT_THAT(refusal<UsageError>([](ResultFile& file) { file.records = run_of(selection()).records; }),
              HasSubstr("'shard2.json' has 10 cases, though shard 2/3 of 10 has 3"));
}

TEST(Merge, ARunGoesOnWithTheFile) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("all.json.gz");
  std::vector<NamedResults> files = shards(3);
  files.pop_back();
  const Merged merged = merge(std::move(files));
  results::write_result_file(path, merged.file);
  const std::optional<ResultFile> earlier = results::load_for_resume(path);
  ASSERT_TRUE(earlier);
  EXPECT_EQ(*earlier, merged.file);
  EXPECT_NO_THROW(results::check_resumable(path, *earlier, support::gpu_environment()));
}

}  // namespace
}  // namespace tbench::compare
