// Compares the committed results with one process per side. The built-in table follows from the results, A/A pairs are
// SAME, and changes are found. The long form reads all results and compares each GPU with spreads from the other GPUs
// only. The short form reads files of several processes and uses the built-in spreads.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/long_tests.hpp"
#include "tbench/compare/comparison.hpp"
#include "tbench/compare/spread_collector.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"

namespace tbench::compare {
namespace {

/// Returns the results files of the folders that have several processes with the same build. In the long form it
/// returns all results files.
std::vector<ComparisonSide> files_of_record() {
  const std::filesystem::path root = TBENCH_TEST_DATA "/../../bench/results";
  const CaseFilter is_short{
      "builds/interleaved|model/trace_o|model/suite_[34]|repeatability/(aa_[ab]|chained|graphs_apart)", ""};
  const CaseFilter is_excluded{built_in_spreads().excluded, ""};
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{root}) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".json.gz") || is_excluded(path)) continue;
    if (support::are_tests_long() || is_short(path)) paths.push_back(path);
  }
  std::ranges::sort(paths);
  std::vector<ComparisonSide> files;
  for (const std::string& path : paths) {
    try {
      files.push_back(read_side(path));
    } catch (const UsageError&) {  // files of other programs, such as Nsight Compute's times
    }
  }
  return files;
}

const std::vector<ComparisonSide>& files() {
  static const std::vector<ComparisonSide> kFiles = files_of_record();
  return kFiles;
}

SpreadCollector collected() {
  SpreadCollector collector;
  for (const ComparisonSide& file : files()) static_cast<void>(collector.add(file));
  return collector;
}

/// Returns the spreads without the results of one GPU; in the short form, the built-in spreads.
const KnownSpreads& spreads_without(const std::string& uuid) {
  if (!support::are_tests_long()) return built_in_spreads();
  static std::map<std::string, KnownSpreads> known;
  const auto found = known.find(uuid);
  if (found != known.end()) return found->second;
  static const std::vector<SpreadSample> kSamples = collected().samples();
  std::vector<SpreadSample> others;
  std::ranges::copy_if(kSamples, std::back_inserter(others), [&](const SpreadSample& s) { return s.uuid != uuid; });
  return known.emplace(uuid, SpreadCollector{std::move(others)}.spreads()).first->second;
}

/// Divides a file of several processes into one side for each process.
std::vector<ComparisonSide> processes_of(const ComparisonSide& file) {
  std::vector<ComparisonSide> processes;
  for (const results::MeasuredCase& c : file.cases) {
    processes.resize(std::max(processes.size(), c.replicates.size()), file);
  }
  for (std::size_t i = 0; i < processes.size(); ++i) {
    processes[i].cases.clear();
    for (const results::MeasuredCase& c : file.cases) {
      if (i < c.replicates.size()) processes[i].cases.push_back({c.id, c.key, {c.replicates[i]}});
    }
  }
  return processes;
}

struct Pair {
  ComparisonSide base;
  ComparisonSide next;
  std::string uuid;
};

const std::string& uuid_of(const ComparisonSide& side) { return side.environments.front().gpu->uuid; }

bool is_aa(const ComparisonSide& file) { return file.paths[0].find("repeatability/aa_") != std::string::npos; }

/// Returns pairs of processes on one GPU with one build, measured in the same way.
std::vector<Pair> pairs_of_processes() {
  std::map<std::string, std::vector<ComparisonSide>> alike;
  for (const ComparisonSide& file : files()) {
    if (file.environments.empty() || !file.environments.front().gpu) continue;
    // One of the twelve kernels in that file has two modes. The built-in spreads include them, so this file tests
    // nothing.
    if (!support::are_tests_long() && is_aa(file)) continue;
    for (ComparisonSide& process : processes_of(file)) {
      alike[uuid_of(file) + file.environments.front().sources_digest].push_back(std::move(process));
    }
  }
  std::vector<Pair> pairs;
  for (const auto& [key, sides] : alike) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      for (std::size_t j = i + 1; j < sides.size(); ++j) {
        pairs.push_back({.base = sides[i], .next = sides[j], .uuid = uuid_of(sides[i])});
      }
    }
  }
  return pairs;
}

/// Returns pairs of GPUs of the same model that both ran the standard suite.
std::vector<Pair> pairs_of_machines() {
  std::vector<Pair> pairs;
  const auto is_suite = [](const ComparisonSide& file) {
    return file.paths[0].find("h100/model/suite") != std::string::npos;
  };
  for (std::size_t i = 0; i < files().size(); ++i) {
    for (std::size_t j = i + 1; j < files().size(); ++j) {
      const ComparisonSide& base = files()[i];
      const ComparisonSide& next = files()[j];
      if (is_suite(base) && is_suite(next)) pairs.push_back({.base = base, .next = next, .uuid = uuid_of(next)});
    }
  }
  return pairs;
}

/// Returns the comparison; nothing if the sides have no case in common or were measured differently.
std::optional<Comparison> compared(const ComparisonSide& base, const ComparisonSide& next,
                                   const KnownSpreads& spreads) {
  CompareOptions options;
  options.spreads = &spreads;
  try {
    return compare(base, next, options);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

bool is_called(Outcome outcome) {
  return outcome == Outcome::kLikelySlower || outcome == Outcome::kLikelyFaster || outcome == Outcome::kHost ||
         outcome == Outcome::kClock;
}

struct Counts {
  double same{};
  double called{};
  double judged{};
};

/// Returns whether a case uses the project's own kernels, which changed between the builds of two machines.
bool is_changed(const CaseComparison& c) {
  const std::string* const implementation = c.id.find("impl");
  return c.by_machines && implementation != nullptr && (*implementation == "fused" || *implementation == "flash");
}

/// Returns whether a case counts. For two machines only device times count: kernels differ by more than their
/// thresholds, so they are UNDECIDED.
bool is_counted(const CaseComparison& c) {
  if (!c.known_test || !c.outcome || is_changed(c)) return false;
  return !c.by_machines || c.judged_by == Measure::kDeviceTime;
}

void count(Counts& counts, const Comparison& comparison) {
  for (const CaseComparison& c : comparison.cases) {
    if (!is_counted(c)) continue;
    ++counts.judged;
    counts.same += c.outcome == Outcome::kSame ? 1 : 0;
    counts.called += is_called(*c.outcome) ? 1 : 0;
  }
}

TEST(SpreadsOfRecord, TheBuiltInTableIsTheirs) {
  EXPECT_EQ(built_in_spreads().gpus, (std::vector<std::string>{"NVIDIA H100 80GB HBM3", "NVIDIA H200"}));
  for (const SpreadClass of : kAllOf<SpreadClass>) {
    for (const Apart apart : kAllOf<Apart>) {
      EXPECT_TRUE(built_in_spreads().classes.contains({of, apart})) << to_string(of);
    }
  }
  if (!support::are_tests_long()) return;
  const KnownSpreads spreads = collected().spreads();
  EXPECT_EQ(spreads.classes, built_in_spreads().classes)
      << "run tbench spreads bench/results --exclude='" << built_in_spreads().excluded
      << "' -o src/compare/known_spreads.json\n"
      << spreads_table(spreads);
  EXPECT_EQ(spreads.cases, built_in_spreads().cases);
}

TEST(SpreadsOfRecord, TheSameCodeIsTheSame) {
  Counts counts;
  for (const std::vector<Pair>& pairs : {pairs_of_processes(), pairs_of_machines()}) {
    for (const Pair& pair : pairs) {
      if (const auto compared_pair = compared(pair.base, pair.next, spreads_without(pair.uuid))) {
        count(counts, *compared_pair);
      }
    }
  }
  RecordProperty("judged", std::to_string(counts.judged));
  RecordProperty("same", std::to_string(counts.same / counts.judged));
  RecordProperty("called", std::to_string(counts.called / counts.judged));
  EXPECT_GE(counts.judged, support::are_tests_long() ? 1000 : 150);
  EXPECT_GE(counts.same / counts.judged, 0.90);
  EXPECT_LE(counts.called / counts.judged, 0.04);
}

/// Counts of the cases in a class: how many were tried, how many were found when each alone was slower by `change`, and
/// how many were UNDECIDED.
struct Found {
  double tried{};
  double found{};
  double undecided{};
};

/// @param only  the only class to count; if absent, all classes
void plant(std::map<SpreadClass, Found>& found, const ComparisonSide& base, const ComparisonSide& next,
           const KnownSpreads& spreads, std::optional<SpreadClass> only = std::nullopt) {
  const auto before = compared(base, next, spreads);
  if (!before) return;
  std::map<std::string, SpreadClass> classes;
  for (const CaseComparison& c : before->cases) {
    const bool is_looked_at = c.spread_class && !is_changed(c) && (!only || c.spread_class == only);
    if (is_looked_at && c.outcome && !is_called(*c.outcome)) classes.emplace(c.id.name(), *c.spread_class);
  }
  constexpr std::size_t kMost = 12;  // maximum number of cases per pair
  constexpr double kPlanted = 0.05;
  std::size_t number = 0;
  for (std::size_t i = 0; i < next.cases.size(); ++i) {
    const auto of = classes.find(next.cases[i].id.name());
    if (of == classes.end() || number++ % (1 + classes.size() / kMost) != 0) continue;
    ComparisonSide slower = next;
    for (results::Replicate& replicate : slower.cases[i].replicates) {
      replicate.time->value *= 1 + kPlanted;
      if (replicate.device_time) replicate.device_time->value *= 1 + kPlanted;
    }
    const Comparison comparison = compared(base, slower, spreads).value();
    const auto planted = std::ranges::find(comparison.cases, next.cases[i].id, &CaseComparison::id);
    Found& counted = found[of->second];
    ++counted.tried;
    counted.found += planted->outcome == Outcome::kLikelySlower ? 1 : 0;
    counted.undecided += planted->outcome == Outcome::kUndecided ? 1 : 0;
  }
}

TEST(SpreadsOfRecord, FivePercentAreFoundOfKernelsGraphsAndDeviceTimes) {
  std::map<SpreadClass, Found> found;
  for (const Pair& pair : pairs_of_processes()) {
    plant(found, pair.base, pair.next, spreads_without(pair.uuid));
  }
  for (const Pair& pair : pairs_of_machines()) {
    for (const SpreadClass of : {SpreadClass::kHostBoundDevice, SpreadClass::kPowerLimit}) {
      plant(found, pair.base, pair.next, spreads_without(pair.uuid), of);
    }
  }
  for (const SpreadClass of : {SpreadClass::kKernel, SpreadClass::kGraph, SpreadClass::kHostBoundDevice}) {
    const Found& counted = found[of];
    RecordProperty(std::string{to_string(of)}, std::to_string(counted.found / counted.tried));
    EXPECT_GE(counted.tried, of == SpreadClass::kKernel ? 50 : 8) << to_string(of);
    EXPECT_GE(counted.found / counted.tried, 0.95) << to_string(of) << ' ' << counted.tried;
  }
  EXPECT_GE(found[SpreadClass::kPowerLimit].tried, 8);
  EXPECT_EQ(found[SpreadClass::kPowerLimit].undecided, found[SpreadClass::kPowerLimit].tried);
}

/// Returns the replicates `first` to `first` + 2 of each case.
ComparisonSide three_of(const ComparisonSide& file, std::size_t first) {
  ComparisonSide side = file;
  for (results::MeasuredCase& c : side.cases) {
    const std::size_t from = std::min(first, c.replicates.size());
    c.replicates.erase(c.replicates.begin(), c.replicates.begin() + static_cast<std::ptrdiff_t>(from));
    if (c.replicates.size() > kMinReplicates) c.replicates.resize(kMinReplicates);
  }
  std::erase_if(side.cases, [](const results::MeasuredCase& c) { return c.replicates.size() < kMinReplicates; });
  return side;
}

TEST(SpreadsOfRecord, ThreeProcessesASideAreJudgedByThemselves) {
  std::vector<ComparisonSide> aa;
  for (const ComparisonSide& file : files()) {
    if (is_aa(file)) aa.push_back(file);
  }
  ASSERT_EQ(aa.size(), 3);
  std::size_t judged = 0;
  std::size_t kernels = 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < aa.size(); ++i) {
    for (std::size_t j = 0; j < aa.size(); ++j) {
      if (i == j) continue;
      const ComparisonSide base = three_of(aa[i], 0);
      ComparisonSide next = three_of(aa[j], 2);
      for (const CaseComparison& c : compare(base, next, {}).cases) {
        ++judged;
        EXPECT_NE(c.outcome, Outcome::kRegressed) << c.id.name();
        EXPECT_NE(c.outcome, Outcome::kImproved) << c.id.name();
      }
      for (results::MeasuredCase& c : next.cases) {
        for (results::Replicate& replicate : c.replicates) replicate.time->value *= 1.05;
      }
      for (const CaseComparison& c : compare(base, next, {}).cases) {
        if (c.base.time->value < 100e-6 || c.id.family() == "Model") continue;
        ++kernels;
        found += c.outcome == Outcome::kRegressed ? 1 : 0;
      }
    }
  }
  EXPECT_GE(judged, 60);
  EXPECT_GE(static_cast<double>(found), 0.8 * static_cast<double>(kernels));
}

}  // namespace
}  // namespace tbench::compare
