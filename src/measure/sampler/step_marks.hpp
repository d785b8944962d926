// Positions of steps and their phases in a recording that is made while the steps are enqueued.
#pragma once

#include <utility>
#include <vector>

#include "tbench/core/case.hpp"

namespace tbench::measure {

/// Notes the recording's position when a step is enqueued and at the end of each of its phases, and forwards the marks.
/// @tparam Step      aggregate of the position at which a step begins and those at which its phases end
/// @tparam Position  callable that returns the current position
template <class Step, class Position>
class StepMarks final : public PhaseMarker {
 public:
  explicit StepMarks(Position now) : now_{std::move(now)} {}

  void launch(Case& subject, PhaseMarker& marker) {
    marker_ = &marker;
    steps_.push_back({now_(), {}});
    subject.launch(*this);
  }
  void mark() override {
    marker_->mark();
    auto& [begin, phase_ends] = steps_.back();
    phase_ends.push_back(now_());
  }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

 private:
  Position now_;
  PhaseMarker* marker_{};
  std::vector<Step> steps_;
};

/// Makes StepMarks with a deduced Position.
template <class Step, class Position>
[[nodiscard]] StepMarks<Step, Position> step_marks(Position now) {
  return StepMarks<Step, Position>{std::move(now)};
}

}  // namespace tbench::measure
