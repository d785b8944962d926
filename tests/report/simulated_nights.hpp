// Nights whose truth is known, judged one after another as a history would have them.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "history_samples.hpp"
#include "tbench/report/gate.hpp"

namespace tbench::report {

class SimulatedNights {
 public:
  static constexpr std::size_t kProcesses = 5;
  static constexpr double kStep = 0.025;  // seconds
  static constexpr double kClock = 1.98e9;

  SimulatedNights(std::uint64_t seed, std::size_t series, double spread = 0.006)
      : random_{seed}, spread_{spread}, build(series, 1), last_good(series, 1), pinned(series, 1), machine(series, 1) {}

  /// Measures, judges and remembers one night. The build is kept where the gate says so.
  NightReport night() {
    const MeasuredRun run = measure();
    GateOptions options;
    if (keeps_builds) {
      options.confirm_last_good = [this](const auto& names) { return in_turns(last_good, names); };
      options.confirm_pinned = [this](const auto& names) { return in_turns(pinned, names); };
    }
    NightReport report = judge_night(past, run, std::nullopt, options);
    PastRun& night = past.emplace_back();
    night.run = {.id = number_,
                 .started = run.started,
                 .fingerprint = run.fingerprint,
                 .epoch = run.epoch,
                 .environment = run.environment,
                 .cases = run.cases};
    night.is_valid = report.is_valid;
    for (const NightCase& c : report.cases) {
      if (c.verdict == NightVerdict::kRegressed) night.regressed.insert(c.key);
    }
    if (past.size() > kTrendNights) past.erase(past.begin());
    if (is_good(report)) last_good = build;
    return report;
  }

  void nights(int count) {
    for (int i = 0; i < count; ++i) night();
  }

  static CaseId id(std::size_t i) { return CaseId{"Model", {{"size", std::to_string(i)}}}; }

 private:
  double time(const std::vector<double>& of_build, std::size_t i) {
    std::normal_distribution<double> noise{0, spread_};
    std::bernoulli_distribution slow_mode{share_of_slow_mode};
    return kStep * of_build[i] * machine[i] * std::exp(noise(random_)) * (slow_mode(random_) ? slow_mode_factor : 1);
  }

  MeasuredRun measure() {
    std::vector<ComparedCase> cases;
    for (std::size_t i = 0; i < build.size(); ++i) {
      std::vector<double> times;
      for (std::size_t process = 0; process < kProcesses; ++process) times.push_back(time(build, i));
      cases.push_back(timed_case(id(i), times, kClock));
    }
    if (has_ceiling) {
      std::normal_distribution<double> noise{0, 0.001};
      cases.push_back(timed_case(CaseId{"Ceiling", {{"what", "copy"}, {"regime", "burst"}}},
                                 {0.001 * ceiling * std::exp(noise(random_))}));
    }
    return run_of_night(++number_, std::move(cases), driver);
  }

  ComparedRun process(const std::vector<double>& of_build, const std::vector<std::string>& names) {
    ComparedRun run;
    for (const std::string& name : names) {
      const CaseId case_id = CaseId::parse(name);
      const auto i = static_cast<std::size_t>(case_id.int_at("size"));
      run.observations.push_back({case_id, timed_replicate(time(of_build, i), kClock)});
    }
    return run;
  }

  std::vector<ConfirmationBlock> in_turns(const std::vector<double>& base, const std::vector<std::string>& names) {
    ++confirmations;
    if (before_confirmation) before_confirmation();
    std::vector<ConfirmationBlock> blocks(kConfirmationBlocks);
    for (ConfirmationBlock& block : blocks) {
      block.base = {process(base, names), process(base, names)};
      block.next = {process(build, names), process(build, names)};
    }
    return blocks;
  }

  std::mt19937_64 random_;
  int number_{};
  double spread_;

 public:
  std::vector<double> build;      // factor on each series' time, of tonight's build
  std::vector<double> last_good;  // the same of the kept ones
  std::vector<double> pinned;
  std::vector<double> machine;  // of what is not the build
  std::string driver{"580.1"};
  bool has_ceiling{};
  double ceiling{1};
  bool keeps_builds{true};
  double share_of_slow_mode{};
  double slow_mode_factor{1.05};
  int confirmations{};
  std::function<void()> before_confirmation;  // what happens between a night's runs and the second look
  std::vector<PastRun> past;
};

}  // namespace tbench::report
