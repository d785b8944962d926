#include "bench/session/run_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "bench/run/stop_signals.hpp"

namespace tbench::bench {
namespace {

constexpr std::chrono::milliseconds kShowInterval{200};

}  // namespace

RunProgress::RunProgress(std::size_t case_count, ExpectedTimes* times)
    : line_{stderr, render::terminal_width(STDERR_FILENO)}, times_{times}, began_{std::chrono::steady_clock::now()} {
  shown_.count = case_count;
}

void RunProgress::begin_case(std::size_t index, const std::string& name) {
  running_ = index;
  running_since_ = elapsed();
  shown_.number = index + 1;
  shown_.name = name;
  estimate_remaining(index);
  update("building");
}

void RunProgress::end_case() {
  if (times_ != nullptr && running_) times_->finished(*running_, elapsed() - running_since_);
  running_.reset();
}

/// Estimates the remaining time. Without durations it assumes that the remaining cases take as long as the finished
/// ones, which is rough at first and soon improves.
void RunProgress::estimate_remaining(std::size_t index) {
  if (times_ != nullptr) {
    shown_.remaining = times_->remaining(index);
  } else if (index > 0) {
    shown_.remaining = elapsed() * (static_cast<double>(shown_.count - index) / static_cast<double>(index));
  }
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

bool TimeLimit::allows(std::size_t index) {
  const Seconds elapsed{std::chrono::duration<double>(std::chrono::steady_clock::now() - program_began_).count()};
  const bool is_first = std::exchange(is_first_, false);
  if (!stop_after_ || has_time_for(index, times_, elapsed, *stop_after_, is_first)) return true;
  stopped_at_ = index;
  request_stop();
  return false;
}
void tell_stop(const Options& options, std::size_t left, std::size_t count, std::span<const std::string> command) {
  const std::string next = options.out.empty() ? "Nothing was kept to go on with: add --benchmark_out=FILE."
                                               : "Go on with: " + resume_command(command);
  fmt::print(stderr, "transformer_bench: --tb_stop_after={:g}: {} of {} cases are left. {}\n",
             options.stop_after->value, left, count, next);
}

}  // namespace tbench::bench
