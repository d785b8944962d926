// Tests comparisons of one process per side, and of two machines: which measure decides, and what the verdict is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/comparison_samples.hpp"
#include "tbench/compare/comparison.hpp"

namespace tbench::compare {
namespace {

using testing::HasSubstr;

const CaseId kKernel{"Kernel", {{"op", "rmsnorm"}}};
const CaseId kStep{"Model", {{"size", "small"}}};
const CaseId kGraph{"Model", {{"size", "small"}, {"exec", "graph"}}};

/// Returns simple limits: kernels 1.5 %, graphs 0.5 %, device times 0.7 %, steps 3 %, and twice as much between
/// machines.
KnownSpreads simple_spreads() {
  using enum SpreadClass;
  KnownSpreads spreads;
  const auto put = [&](SpreadClass of, double limit) {
    spreads.classes[{of, Apart::kProcesses}] = {.limit = limit, .pairs = 100, .cells = 50, .borrowed = {}};
    spreads.classes[{of, Apart::kMachines}] = {.limit = 2 * limit, .pairs = 100, .cells = 50, .borrowed = {}};
  };
  put(kKernel, 0.015);
  put(kGraph, 0.005);
  put(kPowerLimit, 0.03);
  put(kStep, 0.03);
  put(kHostBoundStep, 0.5);
  put(kHostBoundDevice, 0.007);
  put(kDevice, 0.007);
  return spreads;
}

/// The measurements of one process.
struct Process {
  double time_s{};
  std::optional<double> device_s{};
  bool host_bound{};
  bool at_power_limit{};
  Status status{Status::kOk};
  std::optional<std::int64_t> bytes{};
  std::optional<double> clock_hz{};
};

results::MeasuredCase measured(const CaseId& id, const Process& process, Regime regime) {
  results::Replicate replicate = support::timed_replicate(process.time_s, process.clock_hz);
  replicate.regime = regime;
  replicate.status = process.status;
  replicate.host_bound = process.host_bound;
  replicate.at_power_limit = process.at_power_limit;
  replicate.peak_bytes = process.bytes;
  if (process.device_s) replicate.device_time = Seconds{*process.device_s};
  return support::compared_case(id, {replicate});
}

const KnownSpreads kSpreads = simple_spreads();

CaseComparison judged(const CaseId& id, const Process& base, const Process& next, bool of_machines = false,
                      CompareOptions options = {}) {
  const Regime regime = id.family() == "Kernel" ? Regime::kBurst : Regime::kSustained;
  ComparisonSide other = support::side_with({measured(id, next, regime)});
  if (of_machines) other.environments[0].gpu->uuid = "GPU-other";
  options.spreads = &kSpreads;
  return compare(support::side_with({measured(id, base, regime)}), other, options).cases.at(0);
}

TEST(KnownJudgement, AKernelByItsTime) {
  EXPECT_EQ(judged(kKernel, {1e-3}, {1.01e-3}).outcome, Outcome::kSame);
  EXPECT_EQ(judged(kKernel, {1e-3}, {1.05e-3}).outcome, Outcome::kLikelySlower);
  EXPECT_EQ(judged(kKernel, {1e-3}, {0.95e-3}).outcome, Outcome::kLikelyFaster);
  // The change is neither certainly within 3 % nor significant.
  const CaseComparison c = judged(kKernel, {1e-3}, {1.016e-3});
  EXPECT_EQ(c.judged_by, Measure::kTime);
  EXPECT_NEAR(c.known_limit.value(), 0.0151, 1e-4);
  EXPECT_NEAR(c.ratio_interval->high / c.ratio.value(), 1.0151, 1e-4);
  EXPECT_EQ(judged(kKernel, {1e-6}, {1.05e-6}).outcome, Outcome::kUndecided);  // under 10 us
}

TEST(KnownJudgement, TracesOfKernelsSayNothing) {
  EXPECT_EQ(judged(kKernel, {1e-3, 1e-3}, {1.05e-3, 1e-3}).outcome, Outcome::kLikelySlower);
  EXPECT_EQ(judged(kKernel, {1e-3, 1e-3}, {1e-3, 1.2e-3}).outcome, Outcome::kSame);
}

TEST(KnownJudgement, AKernelThatTakesAsManyCyclesIsTheClocks) {
  EXPECT_EQ(judged(kKernel, {.time_s = 1e-3, .clock_hz = 1.98e9}, {.time_s = 1.05e-3, .clock_hz = 1.886e9}).outcome,
            Outcome::kClock);
  EXPECT_EQ(judged(kKernel, {.time_s = 1e-3, .clock_hz = 1.98e9}, {.time_s = 1.05e-3, .clock_hz = 1.98e9}).outcome,
            Outcome::kLikelySlower);
}

TEST(KnownJudgement, AGraphByItsTime) {
  EXPECT_EQ(judged(kGraph, {0.1}, {0.101}).outcome, Outcome::kSame);
  EXPECT_EQ(judged(kGraph, {0.1}, {0.1038}).outcome, Outcome::kLikelySlower);
  EXPECT_EQ(judged(kGraph, {0.1, 0.1}, {0.1038, 0.1}).outcome, Outcome::kHost);
}

TEST(KnownJudgement, AHostBoundStepByItsDeviceTime) {
  const CaseComparison c = judged(kStep, {0.1, 0.05, true}, {0.14, 0.0501, true});
  EXPECT_EQ(c.outcome, Outcome::kSame);
  EXPECT_EQ(c.judged_by, Measure::kDeviceTime);
  EXPECT_TRUE(c.host_bound);
  EXPECT_EQ(judged(kStep, {0.1, 0.05, true}, {0.1, 0.0525, true}).outcome, Outcome::kLikelySlower);
  EXPECT_EQ(judged(kStep, {0.1, 0.05, true}, {0.1, 0.0475, false}).outcome, Outcome::kLikelyFaster);
}

TEST(KnownJudgement, JudgesANoisyStepByItsDeviceTime) {
  const CaseComparison c = judged(kStep, {0.1, 0.099}, {0.101, 0.0992});
  EXPECT_EQ(c.outcome, Outcome::kSame);
  EXPECT_EQ(c.judged_by, Measure::kDeviceTime);
  // The sides' times differ by more than the times of two processes do, so the device time alone decides nothing.
  EXPECT_EQ(judged(kStep, {0.1, 0.099}, {0.104, 0.0992}).outcome, Outcome::kUndecided);
  // With a wider threshold, the time itself decides.
  EXPECT_EQ(judged(kStep, {0.1, 0.099}, {0.101, 0.0992}, false, {.tau = 0.05}).judged_by, Measure::kTime);
  EXPECT_EQ(judged(kStep, {0.1}, {0.12}).outcome, Outcome::kUndecided);  // without a trace
}

TEST(KnownJudgement, AtThePowerLimitNothingUnderEightPercent) {
  const Process hot{.time_s = 0.1, .at_power_limit = true};
  EXPECT_EQ(judged(kGraph, hot, {.time_s = 0.1}).outcome, Outcome::kUndecided);
  EXPECT_EQ(judged(kGraph, hot, {.time_s = 0.105}).outcome, Outcome::kUndecided);
  EXPECT_EQ(judged(kGraph, hot, {.time_s = 0.12}).outcome, Outcome::kLikelySlower);
}

TEST(KnownJudgement, AnUnstableStepByItsDeviceTimeAlone) {
  Process unstable{0.2, 0.0501};
  unstable.status = Status::kUnstable;
  EXPECT_EQ(judged(kStep, {0.1, 0.05}, unstable).outcome, Outcome::kSame);
  EXPECT_EQ(judged(kStep, {0.1, 0.05}, unstable).judged_by, Measure::kDeviceTime);
  unstable.device_s.reset();
  EXPECT_EQ(judged(kStep, {0.1, 0.05}, unstable).outcome, Outcome::kNotJudged);
  Process kernel{1.05e-3};
  kernel.status = Status::kThrottled;
  EXPECT_EQ(judged(kKernel, {1e-3}, kernel).outcome, Outcome::kNotJudged);
}

TEST(KnownJudgement, BetweenMachinesTheDeviceTimeCarriesTheOutcome) {
  EXPECT_EQ(judged(kStep, {0.1, 0.05, true}, {0.13, 0.0501, true}, true).outcome, Outcome::kSame);
  EXPECT_EQ(judged(kStep, {0.1, 0.099}, {0.1, 0.104}, true).outcome, Outcome::kLikelySlower);
  EXPECT_EQ(judged(kGraph, {0.1, 0.1}, {0.103, 0.1001}, true).judged_by, Measure::kDeviceTime);
  EXPECT_EQ(judged(kKernel, {1e-3}, {1.02e-3}, true).outcome, Outcome::kUndecided);
  EXPECT_NEAR(judged(kKernel, {1e-3}, {1.02e-3}, true).known_limit.value(), 0.0305, 1e-4);
  EXPECT_EQ(judged(kStep, {0.1, std::nullopt, true}, {0.2, std::nullopt, true}, true).outcome, Outcome::kUndecided);
}

TEST(KnownJudgement, SeveralProcessesOfAnotherMachineAreOneMachine) {
  const auto side = [](double factor) {
    return support::side_with({support::timed_case(kGraph, support::scaled(support::kSteadyTimes, factor))});
  };
  ComparisonSide other = side(1.04);
  for (results::Replicate& replicate : other.cases[0].replicates) replicate.regime = Regime::kSustained;
  ComparisonSide base = side(1);
  for (results::Replicate& replicate : base.cases[0].replicates) replicate.regime = Regime::kSustained;
  CompareOptions options;
  options.spreads = &kSpreads;
  EXPECT_EQ(compare(base, other, options).cases[0].outcome, Outcome::kRegressed);
  other.environments[0].gpu->uuid = "GPU-other";
  const Comparison comparison = compare(base, other, options);
  EXPECT_EQ(comparison.apart, Apart::kMachines);
  EXPECT_EQ(comparison.cases[0].outcome, Outcome::kLikelySlower);
  EXPECT_EQ(exit_status(comparison, false), 0);
  EXPECT_EQ(exit_status(comparison, true), kExitUncertain);
}

TEST(KnownJudgement, TheCasesHistoryComesFirstThenItsEntryThenItsClass) {
  CompareOptions options;
  options.known_dispersion[results::match_key(kGraph)] = {.standard_deviation = 0.03, .degrees_of_freedom = 10};
  EXPECT_EQ(judged(kGraph, {0.1}, {0.1038}, false, options).outcome, Outcome::kUndecided);
  KnownSpreads spreads = simple_spreads();
  spreads.cases[{results::match_key(kGraph), SpreadClass::kGraph, Apart::kProcesses}] = {
      .limit = 0.1, .pairs = 10, .cells = 1, .borrowed = {}};
  options.known_dispersion.clear();
  options.spreads = &spreads;
  const auto side = [](double time) { return support::side_with({measured(kGraph, {time}, Regime::kSustained)}); };
  EXPECT_EQ(compare(side(0.1), side(0.1038), options).cases[0].outcome, Outcome::kUndecided);
  spreads.cases.clear();
  EXPECT_EQ(compare(side(0.1), side(0.1038), options).cases[0].outcome, Outcome::kLikelySlower);
}

TEST(KnownJudgement, AWholeFileIsCorrectedTogether) {
  // The last case is significant at 5 % if it is the only one, but not among fifty cases.
  const auto side = [](double last, int count) {
    std::vector<results::MeasuredCase> cases;
    for (int i = 0; i < count; ++i) {
      const CaseId id{"Kernel", {{"op", "rmsnorm"}, {"n", std::to_string(i)}}};
      cases.push_back(measured(id, {i == 0 ? last : 1e-3}, Regime::kBurst));
    }
    return support::side_with(std::move(cases));
  };
  CompareOptions options;
  options.spreads = &kSpreads;
  EXPECT_EQ(compare(side(1e-3, 1), side(1.03e-3, 1), options).cases[0].outcome, Outcome::kLikelySlower);
  EXPECT_EQ(compare(side(1e-3, 50), side(1.03e-3, 50), options).cases[0].outcome, Outcome::kUndecided);
}

TEST(KnownJudgement, AFasterCaseMayTakeALittleMoreMemory) {
  constexpr std::int64_t kMebi = 1 << 20;
  const auto outcome = [](double time_s, std::int64_t bytes) {
    return judged(kKernel, {.time_s = 1e-3, .bytes = 1000 * kMebi}, {.time_s = time_s, .bytes = bytes});
  };
  EXPECT_EQ(outcome(0.9e-3, 1064 * kMebi).outcome, Outcome::kLikelyFaster);
  EXPECT_THAT(outcome(0.9e-3, 1064 * kMebi).note, HasSubstr("memory +64.0 MiB"));
  EXPECT_EQ(outcome(0.9e-3, 1065 * kMebi).outcome, Outcome::kRegressed);
  EXPECT_EQ(outcome(1e-3, 1064 * kMebi).outcome, Outcome::kRegressed);
  EXPECT_EQ(
      judged(kKernel, {.time_s = 1e-3, .bytes = 10'000 * kMebi}, {.time_s = 0.9e-3, .bytes = 10'200 * kMebi}).outcome,
      Outcome::kLikelyFaster);
}

TEST(KnownJudgement, OfACpuNothingIsKnown) {
  const auto side = [](double time) {
    ComparisonSide of_cpu = support::side_with({measured(kKernel, {time}, Regime::kBurst)});
    of_cpu.environments[0].gpu.reset();
    return of_cpu;
  };
  const Comparison comparison = compare(side(1e-3), side(2e-3), {});
  EXPECT_FALSE(comparison.apart.has_value());
  EXPECT_EQ(comparison.cases[0].outcome, Outcome::kUndecided);
  EXPECT_EQ(comparison.cases[0].replicates_to_decide, 3);
}

TEST(KnownJudgement, BetweenGpuModelsThereAreIntervalsOfBothTimes) {
  ComparisonSide other = support::side_with({measured(kStep, {0.2, 0.18}, Regime::kSustained)});
  other.environments[0].gpu->name = "NVIDIA H100 80GB HBM3";
  CompareOptions options;
  options.spreads = &kSpreads;
  const Comparison comparison =
      compare(support::side_with({measured(kStep, {0.1, 0.09}, Regime::kSustained)}), other, options);
  EXPECT_TRUE(comparison.cross);
  EXPECT_FALSE(comparison.cases[0].outcome.has_value());
  EXPECT_NEAR(comparison.cases[0].ratio_interval->high, 2 * 1.0618, 1e-3);
  EXPECT_NEAR(comparison.cases[0].device_ratio_interval->high, 2 * 1.0141, 1e-3);
}

}  // namespace
}  // namespace tbench::compare
