// Measured times of the attention kernels, config by config, from src/kernels/attention/heuristics/*.csv. The selection
// rules rest on these times.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/kernels/attention_problem.hpp"

namespace tbench::kernels {

/// Times of one pass of one problem, measured in one session.
struct AttentionMeasurement {
  std::string file;         // "sm90_fwd.csv"
  std::string gpu;          // "H100"
  std::string build, date;  // commit and day of the measurement; empty: unknown
  std::string l2;           // "warm" or "cold"; empty: unknown
  std::string pass;         // "forward" or "backward"
  AttentionShape shape;
  Precision precision{};

  struct Time {
    std::string config;  // PlanDescription::config; "without split": the fastest kernel other than the split pass
    double us{};
  };
  std::vector<Time> times;  // in the order of the file
};

/// Returns all measurements that this build contains.
[[nodiscard]] const std::vector<AttentionMeasurement>& attention_measurements();

/// Returns the measurements of one pass of `problem` on the GPU model `gpu`, sessions with the most configs first.
[[nodiscard]] std::vector<AttentionMeasurement> attention_measurements_of(const AttentionProblem& problem,
                                                                          std::string_view pass, std::string_view gpu);

}  // namespace tbench::kernels
