// Simulates nightly runs whose truth is known, and evaluates them one after another, like the runs of a history.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "support/history_samples.hpp"
#include "tbench/gate/gate.hpp"

namespace tbench::gate {

class SimulatedRuns {
 public:
  static constexpr std::size_t kProcesses = 5;
  static constexpr double kStep = 0.025;  // seconds
  static constexpr double kClock = 1.98e9;

  SimulatedRuns(std::uint64_t seed, std::size_t series, double spread = 0.006)
      : random_{seed},
        spread_{spread},
        tonight_(series, 1),
        build(series, 1),
        last_good(series, 1),
        pinned(series, 1),
        machine(series, 1) {}

  /// Measures, evaluates and remembers one run. The build is kept if the gate allows it.
  GateReport night() {
    const history::MeasuredRun run = measure();
    GateOptions options;
    if (keeps_builds) {
      options.confirm_last_good = [this](const auto& names, auto blocks) { return in_turns(last_good, names, blocks); };
      options.confirm_pinned = [this](const auto& names, auto blocks) { return in_turns(pinned, names, blocks); };
    }
    options.other_machines = std::move(other_machines);
    GateReport report = judge_run(past, run, std::nullopt, options);
    other_machines = std::move(options.other_machines);
    history::PastRun& night = past.emplace_back();
    night.run = {.id = number_,
                 .started = run.started,
                 .fingerprint = run.fingerprint,
                 .epoch = report.epoch,
                 .environment = run.environment,
                 .cases = run.cases};
    night.is_valid = report.is_valid;
    night.is_blind = !is_judged(report);
    for (const CaseReport& c : report.cases) {
      if (c.outcome == Outcome::kRegressed) night.regressed.insert(c.key);
    }
    if (past.size() > kTrendRuns) past.erase(past.begin());
    if (is_good(report)) last_good = build;
    return report;
  }

  void nights(int count) {
    for (int i = 0; i < count; ++i) night();
  }

  static CaseId id(std::size_t i) { return CaseId{"Model", {{"size", std::to_string(i)}}}; }

 private:
  /// Returns a random factor on the times of one run; its logarithm has the standard deviation `noise`.
  double night_effect(double noise) {
    if (noise == 0) return 1;
    if (!has_heavy_tails) return std::exp(noise * std::normal_distribution<double>{}(random_));
    return std::exp(noise * std::student_t_distribution<double>{4}(random_) / std::numbers::sqrt2);
  }

  double time(const std::vector<double>& of_build, std::size_t i) {
    std::normal_distribution<double> noise{0, spread_};
    std::bernoulli_distribution slow_mode{share_of_slow_mode};
    return kStep * of_build[i] * machine[i] * tonight_[i] * std::exp(noise(random_)) *
           (slow_mode(random_) ? slow_mode_factor : 1);
  }

  /// Adds the ceilings. The device's vary by 0.3 % between runs, and the host's by the amounts measured on seven hosts.
  void add_ceilings(std::vector<results::MeasuredCase>& cases) {
    const auto add = [&](const char* what, const char* regime, double noise, double factor) {
      cases.push_back(support::timed_case(CaseId{"Ceiling", {{"what", what}, {"regime", regime}}},
                                          {0.001 * factor * night_effect(noise), 0.001 * factor}));
      cases.back().replicates.resize(1);
    };
    for (const char* what : {"copy", "read", "write"}) add(what, "burst", 0.003, ceiling);
    for (const char* what : {"gemm_bf16", "gemm_fp32", "gemm_tf32"}) {
      for (const char* regime : {"burst", "sustained"}) add(what, regime, 0.003, ceiling);
    }
    add("l2_read", "burst", 0.027, 1);
    add("launch", "burst", 0.025, 1);
    add("dispatch", "sustained", 0.06, host);
    add("h2d_pageable", "sustained", 0.28, 1);
  }

  history::MeasuredRun measure() {
    std::vector<results::MeasuredCase> cases;
    for (std::size_t i = 0; i < build.size(); ++i) {
      tonight_[i] = night_effect(night_noise);
      std::vector<double> times;
      for (std::size_t process = 0; process < kProcesses; ++process) times.push_back(time(build, i));
      cases.push_back(support::timed_case(id(i), times, kClock));
      constexpr const char* kHeldAgainst[]{"copy", "read", "write", "gemm_bf16", "gemm_fp32", "gemm_tf32"};
      for (results::Replicate& replicate : cases.back().replicates) {
        replicate.ceiling = kHeldAgainst[i % std::size(kHeldAgainst)];
        replicate.host_bound = i < host_bound;
      }
    }
    if (has_ceilings) add_ceilings(cases);
    return support::run_of_night(++number_, std::move(cases), driver);
  }

  compare::ComparisonSide process(const std::vector<double>& of_build, const std::vector<std::string>& names) {
    compare::ComparisonSide run;
    for (const std::string& name : names) {
      const CaseId case_id = CaseId::parse(name);
      const auto i = static_cast<std::size_t>(case_id.int_at("size"));
      run.cases.push_back(support::timed_case(case_id, {time(of_build, i)}, kClock));
    }
    return run;
  }

  std::vector<ConfirmationBlock> in_turns(const std::vector<double>& base, const std::vector<std::string>& names,
                                          std::size_t count) {
    ++confirmations;
    if (before_confirmation) before_confirmation();
    std::vector<ConfirmationBlock> blocks(count);
    for (ConfirmationBlock& block : blocks) {
      block.base = {process(base, names), process(base, names)};
      block.next = {process(build, names), process(build, names)};
    }
    return blocks;
  }

  std::mt19937_64 random_;
  int number_{};
  double spread_;
  std::vector<double> tonight_;

 public:
  std::vector<double> build;      // factor on each series' time, for the build that is evaluated
  std::vector<double> last_good;  // the same factor for the kept build
  std::vector<double> pinned;
  std::vector<double> machine;  // factor on each series' time that the build does not cause
  std::string driver{"580.1"};
  bool has_ceilings{};
  double ceiling{1};         // factor on the time of every ceiling of the device
  double host{1};            // factor on the time of the host's dispatch ceiling
  std::size_t host_bound{};  // number of series that the host limits; they come first
  double night_noise{};      // standard deviation of a run's effect on each series
  bool has_heavy_tails{};    // the effects have a t distribution with 4 degrees of freedom
  bool keeps_builds{true};
  double share_of_slow_mode{};
  double slow_mode_factor{1.05};
  int confirmations{};
  std::function<void()> before_confirmation;  // runs between the first measurement and the confirmation
  std::vector<history::PastRun> past;
  std::vector<std::vector<history::PastRun>> other_machines;  // the other machines of the pool
};

}  // namespace tbench::gate
