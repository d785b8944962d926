// The progress of a run: the progress line with the remaining time, and the limit of --tb_stop_after.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/cli/options.hpp"
#include "bench/plan/durations.hpp"
#include "tbench/core/units.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::bench {

class RunProgress {
 public:
  /// Shows progress on stderr if it is a terminal.
  /// @param times  expected times of the cases; null if unknown
  RunProgress(std::size_t case_count, ExpectedTimes* times);

  void begin_case(std::size_t index, const std::string& name);
  void end_case();
  /// Shows what the running case is doing; a repeated activity at most five times per second.
  void update(std::string_view activity);
  void clear() { line_.clear(); }
  [[nodiscard]] Seconds elapsed() const;

 private:
  void estimate_remaining(std::size_t index);

  render::ProgressLine line_;
  render::Progress shown_;
  ExpectedTimes* times_;
  std::optional<std::size_t> running_;  // position in the plan
  Seconds running_since_;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point last_shown_;
};

/// The limit of --tb_stop_after.
class TimeLimit {
 public:
  /// Counts the limit from the start of the program.
  /// @param times  as in has_time_for(); outlives this object
  TimeLimit(std::optional<Seconds> stop_after, const ExpectedTimes* times,
            std::chrono::steady_clock::time_point program_began)
      : stop_after_{stop_after}, times_{times}, program_began_{program_began} {}

  /// Requests a stop if there is no time for the case.
  /// @return  whether there is time
  bool allows(std::size_t index);
  /// Returns the position in the plan of the first case for which there was no time.
  [[nodiscard]] std::optional<std::size_t> stopped_at() const { return stopped_at_; }

 private:
  std::optional<Seconds> stop_after_;
  const ExpectedTimes* times_;
  std::chrono::steady_clock::time_point program_began_;
  bool is_first_{true};
  std::optional<std::size_t> stopped_at_;
};

/// Prints how many cases --tb_stop_after has left for another run.
/// @param command  program and arguments, for the hint on how to resume
void tell_stop(const Options& options, std::size_t left, std::size_t count, std::span<const std::string> command);

}  // namespace tbench::bench
