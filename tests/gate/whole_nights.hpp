// Makes whole nightly runs of 48 cases and 21 ceilings in five processes, and a history of thirty healthy ones.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "quiet_runs.hpp"
#include "support/history_samples.hpp"
#include "tbench/gate/gate.hpp"

namespace tbench::gate {

inline constexpr int kHealthyNights = 30;
inline constexpr std::size_t kNightCases = 48;
inline constexpr std::size_t kNightProcesses = 5;
inline constexpr double kCaseTime = 0.025;

inline CaseId night_case(std::size_t i) {
  return CaseId{"Gemm", {{"m", fmt::format("{}", 1024 * (i + 1))}, {"precision", i % 2 == 0 ? "bf16" : "fp32"}}};
}

inline const std::vector<std::string>& night_ceilings() {
  static const std::vector<std::string> names{
      "gemm_bf16", "gemm_fp32", "gemm_tf32", "gemm_fp16",  "gemm_fp8_e4m3", "copy",       "read",
      "write",     "l2_read",   "launch",    "event",      "dispatch",      "h2d_pinned", "h2d_pageable",
      "gemm_a",    "gemm_b",    "gemm_c",    "d2h_pinned", "d2h_pageable",  "gemm_d",     "gemm_e"};
  return names;
}

/// Returns one process of a case. No two processes have the same samples.
inline results::Replicate night_process(double seconds, std::mt19937_64& random) {
  results::Replicate replicate = support::timed_replicate(seconds, 1.755e9);
  replicate.regime = Regime::kBurst;
  replicate.peak_share_at_clock = 0.7;
  replicate.ceiling_share = 0.9;
  replicate.samples_digest = random();
  return replicate;
}

/// Returns a healthy run whose processes differ by 0.1 %.
inline history::MeasuredRun healthy_night(int night, std::size_t processes = kNightProcesses) {
  std::mt19937_64 random{static_cast<std::uint64_t>(night) * 1000 + processes};
  std::normal_distribution<double> noise{0, 0.001};
  std::vector<results::MeasuredCase> cases;
  const auto add = [&](const CaseId& id, double seconds, const std::string& ceiling) {
    std::vector<results::Replicate> replicates;
    for (std::size_t process = 0; process < processes; ++process) {
      replicates.push_back(night_process(seconds * std::exp(noise(random)), random));
      replicates.back().ceiling = ceiling;
    }
    cases.push_back(support::compared_case(id, std::move(replicates)));
  };
  for (std::size_t i = 0; i < kNightCases; ++i) add(night_case(i), kCaseTime, i % 2 == 0 ? "gemm_bf16" : "gemm_fp32");
  for (const std::string& what : night_ceilings()) {
    add(CaseId{"Ceiling", {{"what", what}, {"regime", "burst"}}}, 0.001, "");
  }
  history::MeasuredRun run = support::run_of_night(night, std::move(cases));
  for (const results::MeasuredCase& c : run.cases) run.planned[c.key] = processes;
  run.environment.gpu->max_sm_clock_hz = 1.98e9;
  run.other_processes = 0;
  run.way = "min_time_s 0.5, samples 60";
  run.suite = "standard";
  return run;
}

inline std::vector<history::PastRun> healthy_nights(int count = kHealthyNights) {
  std::vector<history::PastRun> past;
  for (int night = 0; night < count; ++night) past.push_back(past_of(healthy_night(night)));
  return past;
}

/// Returns what the history knows about the run that follows `past`. Every case of the earlier runs is expected.
inline NightFacts facts_after(const std::vector<history::PastRun>& past, const history::MeasuredRun& run) {
  NightFacts facts{.now = run.started, .expects_null_control = !past.empty()};
  if (past.empty()) return facts;
  for (const results::MeasuredCase& c : past.back().run.cases) {
    if (c.id.family() == "Ceiling") continue;
    facts.expected.push_back({.key = c.key, .name = c.id.name(), .since = past.front().run.started});
  }
  for (const history::PastRun& earlier : past) {
    for (const results::MeasuredCase& c : earlier.run.cases) {
      for (const results::Replicate& r : c.replicates)
        facts.known_samples.emplace(*r.samples_digest, earlier.run.started);
    }
  }
  return facts;
}

/// Returns two sides of an A/A control that do not differ.
inline AaControlSides sound_control() {
  AaControlSides sides;
  for (std::size_t i = 0; i < 10; ++i) {
    sides.a.cases.push_back(support::timed_case(night_case(i), {kCaseTime, kCaseTime * 1.001}));
    sides.b.cases.push_back(support::timed_case(night_case(i), {kCaseTime, kCaseTime * 1.001}));
  }
  return sides;
}

inline GateReport judge_night(const std::vector<history::PastRun>& past, const history::MeasuredRun& run,
                              GateOptions options = {}) {
  if (!options.night) options.night = facts_after(past, run);
  return judge_run(past, run, sound_control(), options);
}

/// Applies `change` to every process of the cases for which `chosen` returns true.
inline void change_cases(history::MeasuredRun& run, const std::function<bool(std::size_t)>& chosen,
                         const std::function<void(results::Replicate&, std::size_t process)>& change) {
  for (std::size_t i = 0; i < kNightCases; ++i) {
    if (!chosen(i)) continue;
    std::size_t process = 0;
    for (results::Replicate& replicate : run.cases[i].replicates) change(replicate, process++);
  }
}

}  // namespace tbench::gate
