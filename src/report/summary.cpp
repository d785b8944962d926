#include "tbench/report/summary.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/report/number_format.hpp"

namespace tbench::report {
namespace {

/// How a metric comes from counters_of: the counter, and what turns its unit into the header's.
struct MetricSpec {
  Metric metric;
  std::string_view header;
  std::string_view counter;
  double factor;
};

constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;

// In the order of Metric.
constexpr std::array kSpecs{
    MetricSpec{Metric::kMilliseconds, "median ms", "median_ms", 1},
    MetricSpec{Metric::kTokens, "tokens/s", "tokens_per_second", 1},
    MetricSpec{Metric::kTflops, "TFLOP/s", "flop_per_second", 1e-12},
    MetricSpec{Metric::kMfu, "MFU %", "mfu", 100},
    MetricSpec{Metric::kMemory, "peak GiB", "peak_allocated_bytes", 1 / kGibi},
    MetricSpec{Metric::kBandwidth, "TB/s", "bytes_per_second", 1e-12},
    MetricSpec{Metric::kCeilingShare, "% of ceiling", "ceiling_share", 100},
};

const std::array<std::string, kSpecs.size()> kNames{"ms", "tokens", "tflops", "mfu", "memory", "bandwidth", "share"};

const MetricSpec& spec_of(Metric metric) { return kSpecs.at(static_cast<std::size_t>(metric)); }

std::string metric_cell(const Record& record, Metric metric) {
  const std::optional<double> value = metric_value(record, metric);
  return value ? format_metric(*value, metric) : "";
}

}  // namespace

std::span<const std::string> metric_names() { return kNames; }

std::optional<Metric> parse_metric(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames.at(i) == name) return kSpecs.at(i).metric;
  }
  return std::nullopt;
}

std::string metric_header(Metric metric) { return std::string{spec_of(metric).header}; }

std::optional<double> metric_value(const Record& record, Metric metric) {
  const MetricSpec& spec = spec_of(metric);
  const std::map<std::string, double> counters = counters_of(record);
  const auto found = counters.find(std::string{spec.counter});
  if (found == counters.end()) return std::nullopt;
  return found->second * spec.factor;
}

std::string format_metric(double value, Metric metric) {
  if (metric == Metric::kTokens) return format_thousands(value);
  if (metric == Metric::kMfu || metric == Metric::kCeilingShare) return fmt::format("{:.1f}", value);
  return format_number(value);
}

std::vector<Column> summary_columns() {
  return {{"status", Align::kLeft},
          {metric_header(Metric::kMilliseconds), Align::kRight},
          {"±%", Align::kRight},
          {metric_header(Metric::kTokens), Align::kRight},
          {metric_header(Metric::kTflops), Align::kRight},
          {metric_header(Metric::kMfu), Align::kRight},
          {metric_header(Metric::kMemory), Align::kRight},
          {"n", Align::kRight}};
}

std::string note_of(const Record& record) {
  if (!record.timing) return "";
  std::string note = record.reason;
  if (record.timing->resolution_limited) {
    if (!note.empty()) note += "; ";
    note += "under 10 us: resolution limited";
  }
  const std::map<std::string, double> counters = counters_of(record);
  if (const auto above = counters.find("above_ceiling"); above != counters.end() && above->second > 0) {
    if (!note.empty()) note += "; ";
    note += fmt::format("{:.2f} of its ceiling: the formula or the timing is wrong", counters.at("ceiling_share"));
  }
  return note;
}

std::vector<std::string> summary_cells(const Record& record) {
  const std::string status{to_string(record.status)};
  if (!record.timing) return {status, record.reason};
  const std::optional<double> half_width = record.timing->relative_half_width;
  return {status,
          metric_cell(record, Metric::kMilliseconds),
          half_width ? fmt::format("{:.2f}", *half_width * 100) : "",
          metric_cell(record, Metric::kTokens),
          metric_cell(record, Metric::kTflops),
          metric_cell(record, Metric::kMfu),
          metric_cell(record, Metric::kMemory),
          fmt::format("{}", record.timing->samples_s.size())};
}

}  // namespace tbench::report
