// The progress line of a run: which case, what it is doing, how long it has taken and may still take.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "tbench/report/progress_line.hpp"

namespace tbench::bench {

class RunProgress {
 public:
  /// Shows on stderr if that is a terminal, else nothing.
  explicit RunProgress(std::size_t case_count);

  void begin_case(std::size_t index, const std::string& name);
  /// Shows what the running case is doing; a repeated activity at most five times a second.
  void update(std::string_view activity);
  void clear() { line_.clear(); }
  [[nodiscard]] Seconds elapsed() const;

 private:
  report::ProgressLine line_;
  report::Progress shown_;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point last_shown_;
};

}  // namespace tbench::bench
