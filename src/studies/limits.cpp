#include "tbench/studies/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "studies/kernels/kernel_figures.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/step_trace.hpp"
#include "tbench/core/work.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::studies {
namespace {

using render::Align;

/// The share of a step, or of the GPU's time, below which a limit is not worth a line.
constexpr double kNotable = 0.05;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

bool is_product(const std::string& kernel_class) { return kernel_class == "gemm" || kernel_class == "attention_fused"; }

/// A traced step that has a time.
class Step {
 public:
  explicit Step(const Record& record) : record_{record}, trace_{*record.trace}, median_{record.timing->median} {
    for (const TracedKernel& kernel : trace_.kernels) {
      (is_product(kernel.kernel_class) ? products_ : classes_[kernel.kernel_class]).add(kernel);
      operations_ = operations_ + kernel.total;
    }
  }

  [[nodiscard]] std::vector<Limit> limits() const {
    std::vector<Limit> found;
    if (is_host_bound()) found.push_back(host());
    if (trace_.device_gaps / median_ > kNotable) found.push_back(launches());
    std::vector<std::pair<double, Limit>> of_device;
    if (is_notable(products_)) of_device.emplace_back(share(products_), products());
    for (const auto& [name, time] : classes_) {
      if (is_notable(time)) of_device.emplace_back(share(time), other(name, time));
    }
    std::ranges::stable_sort(of_device, std::ranges::greater{}, &std::pair<double, Limit>::first);
    for (auto& [part, limit] : of_device) found.push_back(std::move(limit));
    return found;
  }

 private:
  /// Returns the device time of the timed steps. If the trace disagrees with the time, returns the device time of the
  /// traced steps.
  [[nodiscard]] Seconds device() const { return device_time(record_).value_or(trace_.device); }
  [[nodiscard]] bool is_host_bound() const { return tbench::is_host_bound(record_); }
  [[nodiscard]] double share(const OperationSum& time) const { return time.total / operations_; }
  [[nodiscard]] bool is_notable(const OperationSum& time) const {
    return operations_.value > 0 && share(time) > kNotable;
  }

  /// Returns the speed-up of the step without `saved` of the GPU's time, or nullopt if the host is
  /// the limit, nothing is saved, or no time would be left.
  [[nodiscard]] std::optional<double> speed_up(Seconds saved) const {
    if (is_host_bound() || saved.value <= 0 || saved >= median_) return std::nullopt;
    return median_ / (median_ - saved);
  }

  [[nodiscard]] Limit host() const {
    Limit limit{.what = "host",
                .evidence = fmt::format("the GPU idles {} of the step", percent(1 - device() / median_))};
    if (trace_.launches > 0) {
      limit.evidence += fmt::format("; {:.0f} launches, {:.1f} us of the host each", trace_.launches,
                                    to_microseconds(record_.timing->enqueue) / trace_.launches);
    }
    if (record_.timing->regime != Regime::kSustained || device().value <= 0) return limit;
    limit.remedy = "as a CUDA graph";
    limit.at_most = std::max(median_ / device(), 1.0);
    return limit;
  }

  [[nodiscard]] Limit launches() const {
    const double kernels = kernels_per_step(trace_);
    return {
        .what = "launches",
        .evidence = fmt::format("the GPU waits {} of the step between queued operations; {:.0f} kernels of {:.1f} us",
                                percent(trace_.device_gaps / median_), kernels,
                                kernels > 0 ? to_microseconds(operations_) / kernels : 0),
        .remedy = "with all of them in one",
        .at_most = speed_up(trace_.device_gaps)};
  }

  [[nodiscard]] Limit products() const {
    Limit limit{.what = "matrix products", .evidence = fmt::format("{} of the GPU's time", percent(share(products_)))};
    if (!record_.work || !record_.ceiling_per_second) return limit;
    const CeilingNumerator flop = ceiling_numerator(*record_.work);
    if (flop.is_of_bytes || flop.value == 0) return limit;
    const Seconds least{flop.value / *record_.ceiling_per_second};
    limit.evidence += fmt::format(", at {} of {}", percent(least / products_.total), record_.work->ceiling);
    limit.at_most = speed_up(products_.total - least);
    if (limit.at_most) limit.remedy = "at that rate";
    return limit;
  }

  [[nodiscard]] Limit other(const std::string& name, const OperationSum& time) const {
    Limit limit{.what = name,
                .evidence = fmt::format("{} of the GPU's time, {:.0f} of {:.1f} us", percent(share(time)), time.calls,
                                        to_microseconds(time.total) / time.calls),
                .at_most = speed_up(time.total)};
    if (limit.at_most) limit.remedy = "without it";
    return limit;
  }

  const Record& record_;
  const StepTrace& trace_;
  Seconds median_;
  Seconds operations_;  // sum of the operations' times
  OperationSum products_;
  std::map<std::string, OperationSum> classes_;
};

}  // namespace

std::vector<Limit> limits_of(const Record& record) {
  if (!record.trace || !record.timing) return {};
  return Step{record}.limits();
}

void require_trace(std::span<const Record> records, const results::RunFlags& run) {
  if (std::ranges::any_of(records, [](const Record& record) { return record.trace && record.timing; })) return;
  std::vector<std::string> names;
  for (const Record& record : records) names.push_back(record.id.name());
  throw results::CorrectableError{"--limits: no case was traced; measure with --tb_trace=on",
                                  results::trace_command(run, names)};
}

render::Table limits_table(std::span<const Record> records) {
  render::Table table{{{"case", Align::kLeft},
                       {"ms", Align::kRight},
                       {"limit", Align::kLeft},
                       {"by", Align::kLeft},
                       {"at most", Align::kLeft}}};
  for (const Record& record : records) {
    bool is_first = true;
    for (const Limit& limit : limits_of(record)) {
      const std::string bound = limit.at_most ? fmt::format("{:.2f}x {}", *limit.at_most, limit.remedy) : "";
      table.add_row({is_first ? record.id.name() : "",
                     is_first ? fmt::format("{:.3g}", to_milliseconds(record.timing->median)) : "", limit.what,
                     limit.evidence, bound});
      is_first = false;
    }
  }
  return table;
}

}  // namespace tbench::studies
