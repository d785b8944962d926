// A log of two equal steps, before which 1,000 bytes are live. A step first frees the gradient of the previous step.
// Then two layers each allocate an activation. Backward allocates the gradient and frees what it has used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tbench/core/allocation_log.hpp"

namespace tbench::support {

/// Logs forward and backward. The activations have 100 and 200 bytes, and the gradient has `gradient` bytes.
class LoggedSteps {
 public:
  explicit LoggedSteps(std::int64_t gradient = 40) {
    log.allocated_before = live_;
    log.ranges = {"", "FORWARD/layer.0", "FORWARD/layer.1", "BACKWARD/layer.1"};
    for (int i = 0; i < 2; ++i) {
      steps.push_back({.begin = log.events.size(), .phase_ends = {}});
      if (i > 0) add(9, -gradient, 0);
      add(1, 100, 1);
      add(2, 200, 2);
      steps.back().phase_ends.push_back(log.events.size());
      add(9, gradient, 3);
      add(2, -200, 3);
      add(1, -100, 3);
      steps.back().phase_ends.push_back(log.events.size());
    }
  }

  AllocationLog log;
  std::vector<LoggedStep> steps;

 private:
  void add(std::uint64_t address, std::int64_t bytes, std::size_t range) {
    live_ += bytes;
    log.events.push_back({.address = address << 20U, .bytes = bytes, .allocated = live_, .range = range});
  }
  std::int64_t live_{1'000};
};

}  // namespace tbench::support
