// Makes runs without noise, and confirmations with a known outcome.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/history_samples.hpp"
#include "tbench/gate/gate.hpp"

namespace tbench::gate {

inline const CaseId kCase = support::model_id("forward", "sdpa");
inline const CaseId kOther = support::model_id("train_step", "sdpa");
inline constexpr double kTime = 0.025;

/// Returns the times of five processes, within 0.2 % of `seconds`.
inline std::vector<double> around(double seconds) {
  return {seconds * 0.998, seconds * 0.999, seconds, seconds * 1.001, seconds * 1.002};
}

/// Sets the peaks of memory: tensors asked for `requested` bytes, and their blocks have `allocated` bytes.
inline results::MeasuredCase with_memory(results::MeasuredCase c, std::int64_t allocated, std::int64_t requested) {
  for (results::Replicate& replicate : c.replicates) {
    replicate.peak_bytes = allocated;
    replicate.requested_peak_bytes = requested;
  }
  return c;
}

inline results::MeasuredCase with_memory(results::MeasuredCase c, std::int64_t bytes) {
  for (results::Replicate& replicate : c.replicates) replicate.peak_bytes = bytes;
  return c;
}

inline results::MeasuredCase with_work(results::MeasuredCase c, double flop) {
  for (results::Replicate& replicate : c.replicates) replicate.work = Flop{flop};
  return c;
}

/// Sets how long the GPU works in each step of the case.
inline results::MeasuredCase with_device_time(results::MeasuredCase c, double seconds) {
  for (results::Replicate& replicate : c.replicates) replicate.device_time = Seconds{seconds};
  return c;
}

inline history::PastRun past_of(const history::MeasuredRun& run) {
  history::PastRun past;
  past.run = {.id = 1,
              .started = run.started,
              .fingerprint = run.fingerprint,
              .epoch = run.epoch,
              .environment = run.environment,
              .cases = run.cases,
              .way = run.way};
  return past;
}

/// Returns `count` runs of two cases that vary by 0.1 %.
inline std::vector<history::PastRun> quiet_runs(int count, double seconds = kTime) {
  std::vector<history::PastRun> past;
  for (int night = 0; night < count; ++night) {
    const double time = seconds * (1 + 0.001 * ((night % 3) - 1));
    past.push_back(past_of(support::run_of_night(
        night, {support::timed_case(kCase, around(time)), support::timed_case(kOther, around(time))})));
  }
  return past;
}

inline history::MeasuredRun candidate(std::vector<results::MeasuredCase> cases, int night = 50) {
  return support::run_of_night(night, std::move(cases));
}

inline GateReport judge(const std::vector<history::PastRun>& past, std::vector<results::MeasuredCase> cases,
                        const GateOptions& options = {}) {
  return judge_run(past, candidate(std::move(cases)), std::nullopt, options);
}

/// Returns confirmation blocks in which the new build takes `factor` times as long at `clock_factor` times the clock.
inline Confirm confirming(double factor, double clock_factor = 1) {
  return [=](const std::vector<std::string>& names, std::size_t count) {
    std::vector<ConfirmationBlock> blocks(count);
    double wobble = 0;
    for (ConfirmationBlock& block : blocks) {
      wobble = wobble > 0 ? -0.0005 : 0.0005;
      for (const std::string& name : names) {
        const CaseId id = CaseId::parse(name);
        block.base.resize(2);
        block.next.resize(2);
        for (compare::ComparisonSide& run : block.base) run.cases.push_back(support::timed_case(id, {kTime}, 1.98e9));
        for (compare::ComparisonSide& run : block.next) {
          run.cases.push_back(support::timed_case(id, {kTime * factor * (1 + wobble)}, 1.98e9 * clock_factor));
        }
      }
    }
    return blocks;
  };
}

inline GateOptions with_last_good(Confirm confirm) {
  GateOptions options;
  options.confirm_last_good = std::move(confirm);
  return options;
}

}  // namespace tbench::gate
