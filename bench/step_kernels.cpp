#include "bench/step_kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>

namespace tbench::bench {
namespace {

/// Takes the launches of a phase at its end.
class RecordingMarker final : public PhaseMarker {
 public:
  RecordingMarker(capture::KernelLaunches& recorder, std::span<const std::string_view> phases)
      : recorder_{recorder}, phases_{phases} {}

  void mark() override { kernels_.push_back({.phase = phases_[kernels_.size()], .launches = recorder_.take()}); }
  [[nodiscard]] const StepKernels& kernels() const { return kernels_; }

 private:
  capture::KernelLaunches& recorder_;
  std::span<const std::string_view> phases_;
  StepKernels kernels_;
};

/// Null if CUPTI refuses.
std::unique_ptr<capture::KernelLaunches> started_recorder() {
  try {
    auto recorder = std::make_unique<capture::KernelLaunches>();
    recorder->start();
    return recorder;
  } catch (const std::runtime_error&) {
    return nullptr;  // a profiler shows the kernels itself
  }
}

std::string to_string(const std::vector<capture::KernelLaunch>& launches) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : launches) {
    texts.push_back(count == 1 ? name : fmt::format("{} x{}", name, count));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

std::optional<StepKernels> record_kernels(Case& subject) {
  const auto recorder = started_recorder();
  if (!recorder) return std::nullopt;
  RecordingMarker marker{*recorder, subject.phases()};
  subject.launch(marker);
  recorder->stop();
  return marker.kernels();
}

std::string to_string(const StepKernels& kernels) {
  std::vector<std::string> texts;
  for (const PhaseKernels& phase : kernels) texts.push_back(to_string(phase.launches));
  return fmt::format("{}", fmt::join(texts, " | "));
}

std::optional<std::string> missing_kernel(std::string_view impl, std::string_view mark, const StepKernels& kernels) {
  if (mark.empty()) return std::nullopt;
  const auto is_marked = [&](const capture::KernelLaunch& launch) {
    return launch.name.find(mark) != std::string::npos;
  };
  for (const auto& [phase, launches] : kernels) {
    if (std::ranges::any_of(launches, is_marked)) continue;
    return fmt::format("{}: no kernel of the {} has \"{}\" in its name; there ran: {}", impl, phase, mark,
                       launches.empty() ? "none" : to_string(launches));
  }
  return std::nullopt;
}

}  // namespace tbench::bench
