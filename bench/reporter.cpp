#include "bench/reporter.hpp"

#include <unistd.h>
#include <cstdio>
#include <utility>

namespace tbench::bench {
namespace {

constexpr std::chrono::milliseconds kShowInterval{200};

}  // namespace

void RunReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const auto found = finished_.find(run.run_name.function_name);
    if (found == finished_.end()) continue;  // interrupted before it was done
    for (Record& record : found->second) {
      // On the disk before it is on the console: what a user has seen is never lost.
      if (writer_ != nullptr) writer_->add(record);
      progress_.clear();
      if (console_ != nullptr) console_->row(record);
      records_.push_back(std::move(record));
    }
    finished_.erase(found);
  }
}

RunProgress::RunProgress(std::size_t case_count)
    : line_{stderr, render::terminal_width(STDERR_FILENO)}, began_{std::chrono::steady_clock::now()} {
  shown_.count = case_count;
}

void RunProgress::begin_case(std::size_t index, const std::string& name) {
  shown_.number = index + 1;
  shown_.name = name;
  // The cases to come are taken to be like those that are done: rough, and soon better.
  if (index > 0)
    shown_.remaining = elapsed() * (static_cast<double>(shown_.count - index) / static_cast<double>(index));
  update("building");
}

void RunProgress::update(std::string_view activity) {
  const auto now = std::chrono::steady_clock::now();
  if (activity == shown_.activity && now - last_shown_ < kShowInterval) return;
  shown_.activity = activity;
  shown_.elapsed = elapsed();
  last_shown_ = now;
  line_.update(shown_);
}

Seconds RunProgress::elapsed() const {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count()};
}

}  // namespace tbench::bench
