#include "bench/families/kernel_path.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

#include "tbench/core/enums.hpp"
#include "tbench/profile/kernel_name.hpp"

namespace tbench::bench {
namespace {

/// Takes the launches of each phase at the phase's end.
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

/// Returns a recorder that has started; null if CUPTI refuses.
std::unique_ptr<capture::KernelLaunches> started_recorder() {
  try {
    auto recorder = std::make_unique<capture::KernelLaunches>();
    recorder->start();
    return recorder;
  } catch (const std::runtime_error&) {
    return nullptr;  // an attached profiler shows the kernels itself
  }
}

std::string to_string(const std::vector<capture::KernelLaunch>& launches) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : launches) {
    texts.push_back(count == 1 ? name : fmt::format("{} x{}", name, count));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

constexpr std::string_view kOurKernels = "tbench::kernels::";

bool has_our_attention(const CaseId& id) {
  return id.family() == "Model" && (id.at("impl") == "flash" || id.at("impl") == "fused");
}

bool runs(const StepTrace& step, std::string_view phase) {
  return std::ranges::any_of(step.kernels, [&](const TracedKernel& kernel) { return kernel.phase == phase; });
}

bool runs_ours(const StepTrace& step, std::string_view phase) {
  return std::ranges::any_of(step.kernels, [&](const TracedKernel& kernel) {
    return kernel.phase == phase && kernel.kernel_class == "attention_fused" &&
           kernel.name.find(kOurKernels) != std::string::npos;
  });
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

std::optional<std::string> kernel_path_problem(const CaseId& id, const StepTrace& step) {
  if (step.dropped > 0) return std::nullopt;  // a dropped record may be of the kernel in question
  const bool has_kernels = id.family() == "Model" || id.family() == "Attention" || id.family() == "Gemm";
  if (has_kernels && step.kernels.empty()) return "the traced steps launched nothing on the GPU";
  if (has_our_attention(id)) {
    for (const std::string_view phase : {"forward", "backward"}) {
      if (!runs(step, phase) || runs_ours(step, phase)) continue;
      return fmt::format("impl:{}: no kernel of the {} pass is a fused attention of {}", id.at("impl"), phase,
                         kOurKernels);
    }
  }
  const std::string* const name = id.find("precision");
  const auto precision = name == nullptr ? std::nullopt : parse_enum<Precision>(*name);
  return precision ? profile::product_problem(step, *precision) : std::nullopt;
}

}  // namespace tbench::bench
