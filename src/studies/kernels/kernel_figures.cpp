#include "studies/kernels/kernel_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "studies/engine/studies.hpp"
#include "tbench/profile/range_names.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {

bool is_gemm(const TracedKernel& operation) { return operation.kernel_class == "gemm"; }

bool is_copy(const TracedKernel& operation) {
  return operation.kernel_class == "memcpy" || operation.kernel_class == "memset";
}

bool is_kernel(const TracedKernel& operation) { return !is_copy(operation); }

void OperationSum::add(const TracedKernel& operation) {
  calls += operation.calls;
  total = total + operation.total;
}

OperationSum sum_of(std::span<const TracedKernel> operations, bool (*counts)(const TracedKernel&)) {
  OperationSum sum;
  for (const TracedKernel& operation : operations) {
    if (counts(operation)) sum.add(operation);
  }
  return sum;
}

std::vector<std::pair<std::string, OperationSum>> sums_by_class(std::span<const TracedKernel> operations) {
  std::map<std::string, OperationSum> by_class;
  for (const TracedKernel& operation : operations) by_class[operation.kernel_class].add(operation);
  std::vector<std::pair<std::string, OperationSum>> sums{by_class.begin(), by_class.end()};
  std::ranges::stable_sort(sums, std::ranges::greater{}, [](const auto& sum) { return sum.second.total.value; });
  return sums;
}

double percent_of(Seconds part, Seconds whole) { return whole.value > 0 ? 100 * (part / whole) : 0; }

std::string one_digit(double value) { return fmt::format("{:.1f}", value); }

std::string count_text(double value) {
  constexpr double kRounding = 1e-9;
  const bool is_whole = std::abs(value - std::round(value)) < kRounding * std::abs(value);
  return is_whole ? render::format_thousands(value) : render::format_number(value);
}

std::vector<StudyQuantity> kernel_quantities() {
  return {{"calls", &count_text},
          {"total ms", &render::format_number},
          {"% of phase", &one_digit},
          {"mean us", &render::format_number},
          {"std us", &render::format_number},
          {"min us", &render::format_number},
          {"max us", &render::format_number}};
}

StudyRow kernel_row(const TracedPhase& phase, const TracedKernel& kernel) {
  constexpr double kMicro = 1e6;
  const auto deviation = kernel.standard_deviation;
  return {.names = {phase.name, kernel.kernel_class},
          .values = {kernel.calls, to_milliseconds(kernel.total), percent_of(kernel.total, phase.total),
                     kernel.total.value / kernel.calls * kMicro,
                     deviation ? std::optional{deviation->value * kMicro} : std::nullopt, kernel.min.value * kMicro,
                     kernel.max.value * kMicro},
          .detail = kernel.name};
}

std::optional<Seconds> forward_time(const Record& record) {
  if (!record.timing) return std::nullopt;
  const std::vector<PhaseTime>& phases = record.timing->phases;
  if (phases.empty()) return record.timing->median;
  const auto found = std::ranges::find(phases, "forward", &PhaseTime::name);
  return found == phases.end() ? std::nullopt : std::optional{found->median};
}

const TracedRange* phase_range(std::span<const TracedRange> ranges, std::string_view phase) {
  const auto found =
      std::ranges::find_if(ranges, [&](const TracedRange& range) { return profile::is_label(range.path, phase); });
  return found == ranges.end() ? nullptr : &*found;
}

const TracedPhase* phase_named(std::span<const TracedPhase> phases, std::string_view name) {
  const auto found = std::ranges::find(phases, name, &TracedPhase::name);
  return found == phases.end() || found->operations.empty() ? nullptr : &*found;
}

Seconds forward_time_of(const StepTrace& trace, std::initializer_list<std::string_view> names) {
  Seconds sum{};
  for (const TracedRange& range : trace.ranges) {
    const std::string_view path = range.path;
    const auto is_last = [&](std::string_view name) { return path.substr(path.rfind('/') + 1) == name; };
    if (path.starts_with("FORWARD/") && std::ranges::any_of(names, is_last)) sum = sum + range.gpu_sum;
  }
  return sum;
}

StudyColumn trace_column(std::string header, std::function<double(const StepTrace&, Seconds step)> value,
                         std::function<std::string(double)> format) {
  return {.header = std::move(header),
          .value = [value = std::move(value)](const Record& record) -> std::optional<double> {
            if (!record.trace || !record.timing) return std::nullopt;
            return value(*record.trace, record.timing->median);
          },
          .format = std::move(format)};
}

std::vector<FamilyGrid> traced_grid(std::vector<std::string> pass, std::vector<std::string> precision) {
  return {model_grid({"128", "256", "512", "1024"}, std::move(pass), std::move(precision))};
}

}  // namespace tbench::studies
