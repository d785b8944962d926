// The places of steps and their phases in whatever is recorded while they are enqueued.
#pragma once

#include <utility>
#include <vector>

#include "tbench/core/case.hpp"

namespace tbench::measure {

/// Notes a position when a step is enqueued and at the end of each of its phases, and passes the marks on.
/// @tparam Step      an aggregate of where it begins and of where its phases end
/// @tparam Position  callable: where one is now
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

/// With the position deduced.
template <class Step, class Position>
[[nodiscard]] StepMarks<Step, Position> step_marks(Position now) {
  return StepMarks<Step, Position>{std::move(now)};
}

}  // namespace tbench::measure
