// Expects the outcome of a nightly run, as a row of the table of nightly runs states it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "whole_nights.hpp"

namespace tbench::gate {

/// The expected outcome of one nightly run.
struct Row {
  Headline headline;
  Outcome outcome;
  int strict_exit;
  bool is_kept;
};

inline void expect_row(const GateReport& report, const Row& row) {
  EXPECT_EQ(to_string(headline_of(report)), to_string(row.headline));
  EXPECT_EQ(to_string(outcome_of(report)), to_string(row.outcome));
  EXPECT_EQ(exit_status(report, true), row.strict_exit);
  EXPECT_EQ(exit_status(report, false), row.strict_exit == kExitUncertain ? kExitOk : row.strict_exit);
  EXPECT_EQ(is_good(report), row.is_kept);
}

/// Returns the number of the report's cases that enter the baseline.
inline std::size_t baseline_of(const GateReport& report) {
  return is_judged(report) ? static_cast<std::size_t>(std::ranges::count_if(report.cases, is_baseline)) : 0;
}

inline std::string text_of(const GateReport& report, Subject subject) {
  const auto found = std::ranges::find(report.findings, subject, &Finding::subject);
  return found == report.findings.end() ? "" : found->text;
}

inline bool all(std::size_t) { return true; }
inline bool first(std::size_t i) { return i == 0; }

inline history::MeasuredRun tonight() { return healthy_night(kHealthyNights); }

inline Confirm confirming_times(double factor, Status next_status = Status::kOk, Status base_status = Status::kOk) {
  return [=](const std::vector<std::string>& names, std::size_t count) {
    std::vector<ConfirmationBlock> blocks(count);
    double wobble = 0.0005;
    for (ConfirmationBlock& block : blocks) {
      wobble = -wobble;
      for (const std::string& name : names) {
        const CaseId id = CaseId::parse(name);
        const auto side = [&](double seconds, Status status) {
          compare::ComparisonSide run;
          run.cases.push_back(support::timed_case(id, {seconds}, 1.755e9));
          run.cases.back().replicates[0].status = status;
          return run;
        };
        for (int process = 0; process < 2; ++process) {
          block.base.push_back(side(kCaseTime, base_status));
          block.next.push_back(side(kCaseTime * factor * (1 + wobble), next_status));
        }
      }
    }
    return blocks;
  };
}

inline GateOptions with_kept_build(double factor, Status next_status = Status::kOk, Status base_status = Status::kOk) {
  GateOptions options;
  options.confirm_last_good = confirming_times(factor, next_status, base_status);
  return options;
}

}  // namespace tbench::gate
