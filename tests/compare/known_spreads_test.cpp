// Tests classes of times, limits of classes and cases, and the files that store them.
#include "tbench/compare/known_spreads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/comparison_samples.hpp"
#include "tbench/compare/spread_collector.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::compare {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const CaseId kKernel{"Attention", {{"seq_len", "64"}, {"impl", "sdpa_flash"}}};
const CaseId kOwnKernel{"Attention", {{"seq_len", "64"}, {"impl", "fused"}}};
const CaseId kStep{"Model", {{"size", "small"}, {"impl", "sdpa"}}};
const CaseId kGraph{"Model", {{"size", "small"}, {"impl", "sdpa"}, {"exec", "graph"}}};

results::Replicate burst(double seconds) {
  results::Replicate replicate = support::timed_replicate(seconds);
  replicate.regime = Regime::kBurst;
  replicate.l2 = L2State::kCold;
  replicate.host_bound = false;
  return replicate;
}

results::Replicate step(double seconds, std::optional<double> device_s, bool host_bound = false) {
  results::Replicate replicate = support::timed_replicate(seconds);
  replicate.regime = Regime::kSustained;
  replicate.host_bound = host_bound;
  if (device_s) replicate.device_time = Seconds{*device_s};
  return replicate;
}

std::optional<SpreadClass> class_of(const CaseId& id, const results::Replicate& replicate) {
  return class_of_time(spread_facts(id, replicate));
}

TEST(SpreadClasses, KernelsByTheirLength) {
  EXPECT_EQ(class_of(kKernel, burst(100e-6)), SpreadClass::kKernel);
  EXPECT_EQ(class_of(kKernel, burst(99e-6)), SpreadClass::kShortKernel);
  EXPECT_EQ(class_of(kKernel, burst(10e-6)), SpreadClass::kShortKernel);
  EXPECT_EQ(class_of(kKernel, burst(9.9e-6)), std::nullopt);
  results::Replicate slow_host = burst(100e-6);
  slow_host.host_bound = true;
  EXPECT_EQ(class_of(kKernel, slow_host), std::nullopt);
  EXPECT_EQ(class_of_device_time(spread_facts(kKernel, burst(100e-6))), std::nullopt);
  results::Replicate launches = burst(2e-3);  // a thousand launches, which take the host longer to enqueue
  launches.device_time = Seconds{1.2e-3};
  EXPECT_EQ(class_of(kKernel, launches), std::nullopt);
  launches.device_time = Seconds{1.6e-3};
  EXPECT_EQ(class_of(kKernel, launches), SpreadClass::kKernel);
}

TEST(SpreadClasses, StepsByTraceHostAndPower) {
  EXPECT_EQ(class_of(kStep, step(0.01, std::nullopt)), std::nullopt);
  EXPECT_EQ(class_of(kGraph, step(0.01, std::nullopt)), SpreadClass::kGraph);
  EXPECT_EQ(class_of(kStep, step(0.01, 0.009)), SpreadClass::kStep);
  EXPECT_EQ(class_of(kStep, step(0.01, 0.005, true)), SpreadClass::kHostBoundStep);
  EXPECT_EQ(class_of_device_time(spread_facts(kStep, step(0.01, 0.005, true))), SpreadClass::kHostBoundDevice);
  EXPECT_EQ(class_of_device_time(spread_facts(kStep, step(0.01, 0.009))), SpreadClass::kDevice);
  results::Replicate hot = step(0.01, 0.01);
  hot.at_power_limit = true;
  EXPECT_EQ(class_of(kStep, hot), SpreadClass::kPowerLimit);
  EXPECT_EQ(class_of(kGraph, hot), SpreadClass::kPowerLimit);
  EXPECT_EQ(class_of_device_time(spread_facts(kGraph, hot)), SpreadClass::kPowerLimit);
}

TEST(SpreadClasses, RanksAndCeilingsHaveNone) {
  EXPECT_EQ(class_of(CaseId{"DataParallel", {{"gpus", "2"}}}, step(0.01, 0.01)), std::nullopt);
  EXPECT_EQ(class_of(CaseId{"Ceiling", {{"what", "gemm_bf16"}}}, step(0.01, 0.01)), std::nullopt);
  EXPECT_EQ(class_of(CaseId{"Ceiling", {{"what", "copy"}}}, burst(1e-3)), std::nullopt);
}

TEST(SpreadClasses, OfAPairTheSlowerHostAndTheLowerClockCount) {
  results::Replicate hot = step(0.04, 0.03);
  hot.at_power_limit = true;
  const SpreadFacts both = of_both(spread_facts(kStep, step(0.01, std::nullopt, true)), spread_facts(kStep, hot));
  EXPECT_TRUE(both.host_bound);
  EXPECT_TRUE(both.at_power_limit);
  EXPECT_FALSE(both.is_traced);
  EXPECT_NEAR(both.time.value, 0.02, 1e-15);
  EXPECT_EQ(class_of_time(of_both(spread_facts(kKernel, burst(1e-3)), spread_facts(kKernel, step(1e-3, 1e-3)))),
            std::nullopt);
}

/// Returns a file of one process with the given cases.
ComparisonSide file(std::vector<results::MeasuredCase> cases, const std::string& uuid = "GPU-a",
                    const std::string& build = "one") {
  ComparisonSide side = support::side_with(std::move(cases));
  side.environments[0].gpu->uuid = uuid;
  side.environments[0].sources_digest = build;
  side.options = {{{"burst_min_time_s", "0.1"}}};
  return side;
}

results::MeasuredCase kernel(double seconds, int number = 0, const CaseId& id = kKernel) {
  std::vector<CaseId::Parameter> parameters = id.parameters();
  parameters.emplace_back("n", std::to_string(number));
  return support::compared_case(CaseId{id.family(), parameters}, {burst(seconds)});
}

KnownSpreads spreads_of(const std::vector<ComparisonSide>& files) {
  SpreadCollector collector;
  for (const ComparisonSide& side : files) static_cast<void>(collector.add(side));
  return collector.spreads();
}

constexpr KnownSpreads::ClassKey kKernels{SpreadClass::kKernel, Apart::kProcesses};
constexpr KnownSpreads::ClassKey kOfMachines{SpreadClass::kKernel, Apart::kMachines};

/// Returns two files with `count` kernels. The kernels of the second file take `factor` times as long. If `factor` is
/// 1, its times differ in the last digits, because equal files are refused.
std::vector<ComparisonSide> pairs(int count, double factor, const std::string& second_uuid = "GPU-a",
                                  const std::string& second_build = "one", const CaseId& id = kKernel) {
  std::vector<results::MeasuredCase> first;
  std::vector<results::MeasuredCase> second;
  for (int i = 0; i < count; ++i) {
    first.push_back(kernel(1e-3, i, id));
    second.push_back(kernel(1e-3 * factor * (1 + 1e-12), i, id));
  }
  return {file(first), file(second, second_uuid, second_build)};
}

TEST(Spreads, APairIsOfOneGpuBuildAndWay) {
  EXPECT_EQ(spreads_of(pairs(8, 1.02)).classes.at(kKernels).pairs, 8);
  EXPECT_FALSE(spreads_of(pairs(8, 1.02, "GPU-a", "two")).classes.contains(kKernels));
  std::vector<ComparisonSide> otherwise = pairs(8, 1.02);
  otherwise[1].options[0]["samples"] = "20";
  EXPECT_TRUE(spreads_of(otherwise).classes.empty());
  std::vector<ComparisonSide> updated = pairs(8, 1.02);
  updated[1].environments[0].versions["driver"] = "590.1";
  EXPECT_TRUE(spreads_of(updated).classes.empty());
}

TEST(Spreads, MachinesAreComparedByOneBuildOrByTheLibrariesKernels) {
  const auto known = [](const KnownSpreads& spreads) {
    const auto found = spreads.classes.find(kOfMachines);
    return found != spreads.classes.end() && found->second.borrowed.empty();
  };
  EXPECT_TRUE(known(spreads_of(pairs(8, 1.02, "GPU-b"))));
  EXPECT_TRUE(known(spreads_of(pairs(8, 1.02, "GPU-b", "two"))));
  EXPECT_TRUE(known(spreads_of(pairs(8, 1.02, "GPU-b", "one", kOwnKernel))));
  EXPECT_FALSE(known(spreads_of(pairs(8, 1.02, "GPU-b", "two", kOwnKernel))));
}

TEST(Spreads, TheLimitIsTheLargestThatAQuantileGivesAndAtLeastHalfAPercent) {
  // All pairs differ by ln 1.02. The median then requires the largest limit. t(.975, 6) = 2.446912, t(.75, 6) =
  // 0.717558.
  EXPECT_NEAR(spreads_of(pairs(8, 1.02)).classes.at(kKernels).limit, std::log(1.02) * 2.446912 / 0.717558, 1.01e-4);
  EXPECT_EQ(spreads_of(pairs(8, 1.0001)).classes.at(kKernels).limit, kMinLimit);
  // One pair in nine differs, which is the 90 % quantile. t(.95, 6) = 1.943180.
  std::vector<ComparisonSide> files = pairs(9, 1);
  files[1].cases[4].replicates[0].time = Seconds{1.02e-3};
  EXPECT_NEAR(spreads_of(files).classes.at(kKernels).limit, std::log(1.02) * 2.446912 / 1.943180, 1.01e-4);
}

TEST(Spreads, ACellCountsOnceHoweverManyPairsItHas) {
  // Each of nine cases has one quiet pair. The tenth case has five processes, and its ten pairs differ.
  std::vector<ComparisonSide> files = pairs(10, 1);
  for (const double factor : {1.03, 1.06, 1.09}) files.push_back(file({kernel(1e-3 * factor, 9)}));
  const KnownDispersion known = spreads_of(files).classes.at(kKernels);
  EXPECT_EQ(known.pairs, 19);
  EXPECT_EQ(known.cells, 10);
  EXPECT_LT(known.limit, 0.06);  // if every pair counted, the 90 % quantile alone would give 0.108
}

TEST(Spreads, AnotherStatusIsNoPair) {
  std::vector<ComparisonSide> files = pairs(8, 1.02);
  files[1].cases[0].replicates[0].status = Status::kUnstable;
  EXPECT_TRUE(spreads_of(files).classes.empty());
}

TEST(Spreads, UnderEightPairsAClassBorrowsFromItsNeighbour) {
  EXPECT_TRUE(spreads_of(pairs(7, 1.02)).classes.empty());
  const KnownSpreads spreads = spreads_of(pairs(8, 1.0001));
  const KnownDispersion borrowed = spreads.classes.at(kOfMachines);
  EXPECT_EQ(borrowed.borrowed, "kernel of processes");
  EXPECT_DOUBLE_EQ(borrowed.limit, kBorrowedFactor * kMinLimit);
  EXPECT_EQ(spreads.classes.at({SpreadClass::kShortKernel, Apart::kProcesses}).borrowed, "kernel of processes");
  EXPECT_FALSE(spreads.classes.contains({SpreadClass::kGraph, Apart::kProcesses}));
  // Ten pairs of five processes of one case count as one.
  std::vector<ComparisonSide> processes;
  for (int i = 0; i < 5; ++i) processes.push_back(file({kernel(1e-3 + 1e-6 * i)}));
  EXPECT_TRUE(spreads_of(processes).classes.empty());
}

TEST(Spreads, ACaseThatSpreadsMoreThanItsClassHasItsOwn) {
  std::vector<ComparisonSide> files = pairs(40, 1.001);
  files[1].cases[3].replicates[0].time = Seconds{1.1e-3};
  const KnownSpreads spreads = spreads_of(files);
  ASSERT_EQ(spreads.cases.size(), 1);
  const std::string odd = files[1].cases[3].key;
  EXPECT_GT(spreads.find(odd, SpreadClass::kKernel, Apart::kProcesses)->limit, 0.1);
  EXPECT_LT(spreads.find(files[1].cases[4].key, SpreadClass::kKernel, Apart::kProcesses)->limit, 0.01);
  EXPECT_FALSE(spreads.find(odd, SpreadClass::kGraph, Apart::kProcesses).has_value());
}

TEST(Spreads, TheSameFileTwiceIsRefused) {
  SpreadCollector collector;
  EXPECT_EQ(collector.add(pairs(2, 1)[0]), 2);
  EXPECT_THROW(static_cast<void>(collector.add(pairs(2, 1)[0])), UsageError);
  ComparisonSide on_cpu = pairs(2, 1)[0];
  on_cpu.environments[0].gpu.reset();
  EXPECT_EQ(collector.add(on_cpu), 0);
}

TEST(Spreads, ALimitHasAPValueOfFivePercent) {
  const KnownDispersion spread{.limit = 0.02, .pairs = 8, .cells = 8, .borrowed = {}};
  const std::vector<double> base{0};
  const auto p_at = [&](double difference) {
    return stats::moderated_t_test(base, std::vector<double>{difference}, spread.prior())->p_value;
  };
  EXPECT_NEAR(p_at(0.02), 0.05, 1e-12);
  EXPECT_LT(p_at(0.0201), 0.05);
}

TEST(SpreadsFile, KeepsClassesCasesAndSamples) {
  std::vector<ComparisonSide> files = pairs(40, 1.001);
  files[1].cases[3].replicates[0].time = Seconds{1.1e-3};
  SpreadCollector collector;
  for (const ComparisonSide& side : files) static_cast<void>(collector.add(side));
  KnownSpreads spreads = collector.spreads();
  spreads.samples = collector.samples();
  spreads.excluded = "updates_";
  const KnownSpreads read = parse_spreads(results::pretty(spreads_to_json(spreads)), "mine.json");
  EXPECT_EQ(read.classes, spreads.classes);
  EXPECT_EQ(read.cases, spreads.cases);
  EXPECT_EQ(read.gpus, spreads.gpus);
  EXPECT_EQ(read.excluded, "updates_");
  ASSERT_EQ(read.samples.size(), 80);
  // Samples that are added to a file count together with the samples in the file.
  SpreadCollector again{read.samples};
  static_cast<void>(again.add(file({kernel(1.002e-3, 0)})));
  EXPECT_EQ(again.spreads().classes.at(kKernels).pairs, 42);
}

TEST(SpreadsFile, OwnSpreadsComeOverBuiltInOnesUnlessTheyAreBorrowed) {
  KnownSpreads known;
  known.classes[kKernels] = {.limit = 0.01, .pairs = 100, .cells = 50, .borrowed = {}};
  known.classes[kOfMachines] = {.limit = 0.02, .pairs = 100, .cells = 50, .borrowed = {}};
  known.put_over(spreads_of(pairs(8, 1.0001)));
  EXPECT_EQ(known.classes.at(kKernels).limit, kMinLimit);
  EXPECT_EQ(known.classes.at(kOfMachines).limit, 0.02);
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_spreads(text, "mine.json"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "read";
}

TEST(SpreadsFile, RefusesWhatItDoesNotKnowWithFileValueAndRemedy) {
  const std::string text = results::pretty(spreads_to_json(spreads_of(pairs(8, 1.02))));
  EXPECT_EQ(refusal(text), "read");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const std::size_t at = other.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return refusal(other.replace(at, from.size(), to));
  };
  const auto remedy = HasSubstr("Write it again with 'tbench spreads RESULTS... -o FILE'.");
  EXPECT_THAT(changed("known_spreads/1", "known_spreads/7"),
              AllOf(HasSubstr("'mine.json': schema 'tbench.known_spreads/7'"), remedy));
  EXPECT_THAT(changed("\"kernel\"", "\"kernal\""),
              AllOf(HasSubstr("'mine.json': class: unknown value 'kernal' (values: kernel, "), remedy));
  EXPECT_THAT(changed("\"processes\"", "\"planets\""), AllOf(HasSubstr("apart: unknown value 'planets'"), remedy));
  EXPECT_THAT(changed("\"limit\": 0.0", "\"limit\": -0.0"), AllOf(HasSubstr("is not above 0"), remedy));
  EXPECT_THAT(changed("\"gpus\"", "\"gpu\""), AllOf(HasSubstr("'mine.json': spreads.gpus"), remedy));
  EXPECT_THAT(refusal("{"), AllOf(HasSubstr("'mine.json': it is not JSON"), remedy));
  EXPECT_THAT(refusal("[]"), AllOf(HasSubstr("'mine.json': it is not a spreads file"), remedy));
}

TEST(SpreadsTable, HasARowAClass) {
  const std::string table = spreads_table(spreads_of(pairs(8, 1.0001)));
  EXPECT_THAT(table, AllOf(HasSubstr("kernel >= 100 us"), HasSubstr("0.50 (8, 8)"),
                           HasSubstr("0.75 (kernel of processes)"), HasSubstr("unknown")));
}

}  // namespace
}  // namespace tbench::compare
