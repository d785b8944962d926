// Times of the attention kernels that were measured config by config: src/kernels/attention/heuristics/*.csv. The rules
// rest on them.
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
  std::string build, date;  // commit and day that wrote the times down; empty: unknown
  std::string l2;           // "warm" or "cold"; empty: unknown
  std::string pass;         // "forward" or "backward"
  AttentionShape shape;
  Precision precision{};

  struct Time {
    std::string config;  // PlanDescription::config, or "without split": the fastest kernel but the split backward pass
    double us{};
  };
  std::vector<Time> times;  // in the order of the file
};

/// All measurements of this build.
[[nodiscard]] const std::vector<AttentionMeasurement>& attention_measurements();

/// Returns the measurements of a pass of `problem` on a model of GPU, the sessions with the most configs first.
[[nodiscard]] std::vector<AttentionMeasurement> attention_measurements_of(const AttentionProblem& problem,
                                                                          std::string_view pass, std::string_view gpu);

}  // namespace tbench::kernels
