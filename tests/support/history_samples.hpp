// Makes runs of a history for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/comparison_samples.hpp"
#include "tbench/core/text.hpp"
#include "tbench/history/measured_run.hpp"

namespace tbench::support {

inline constexpr std::int64_t kDay = 86'400;
inline constexpr std::int64_t kFirstNight = 1'767'322'800;  // 2026-01-02T03:00:00Z

/// Returns the run of night `night`, counted from 0, with the given cases and one file. Runs differ in everything that
/// must be unique.
inline history::MeasuredRun run_of_night(int night, std::vector<results::MeasuredCase> cases,
                                         const std::string& driver = "580.1", const std::string& commit = "") {
  history::MeasuredRun run;
  run.environment = gpu_environment();
  run.environment.versions["driver"] = driver;
  run.environment.commit = commit.empty() ? "commit" + std::to_string(night) : commit;
  run.started = format_timestamp(kFirstNight + night * kDay);
  run.environment.date = run.started;
  run.fingerprint = history::fingerprint_of(run.environment);
  run.epoch = history::epoch_of(run.environment);
  run.digest = "run" + std::to_string(night);
  run.files = {{.path = "run" + std::to_string(night) + ".json",
                .digest = "file" + std::to_string(night),
                .started = run.started}};
  run.cases = std::move(cases);
  return run;
}

inline constexpr int kNumberedCases = 40;

/// Returns a run in which every time is known: case i of night n takes 1 + n + i / 1000 s in each of three processes.
inline history::MeasuredRun numbered_run(int night) {
  std::vector<results::MeasuredCase> cases;
  for (int i = 0; i < kNumberedCases; ++i) {
    const double seconds = 1 + night + i / 1000.0;
    cases.push_back(timed_case(CaseId{"Series", {{"number", std::to_string(i)}}}, {seconds, seconds, seconds}, 1.98e9));
  }
  return run_of_night(night, std::move(cases));
}

}  // namespace tbench::support
