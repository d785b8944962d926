#include "tbench/render/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::render {
namespace {

/// A metric's source in counters_of(): the counter, and the factor from its unit to the unit of the header.
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
    MetricSpec{Metric::kFloorShare, "floor, % of time", "floor_share", 100},
};

const std::array<std::string, kSpecs.size()> kNames{"ms",     "tokens",    "tflops", "mfu",
                                                    "memory", "bandwidth", "share",  "floor"};

const MetricSpec& spec_of(Metric metric) { return kSpecs.at(static_cast<std::size_t>(metric)); }

std::string metric_cell(const Record& record, Metric metric) {
  const std::optional<double> value = metric_value(record, metric);
  return value ? format_metric(*value, metric) : "";
}

constexpr std::string_view kGap = "  ";

/// The width of each summary column. Rows arrive one by one, so the widths cannot follow from them.
constexpr std::array<std::size_t, 8> kWidths{11, 10, 6, 12, 8, 6, 9, 5};
/// The columns that a narrow terminal drops, in this order: TFLOP/s, MFU, the interval, samples and tokens/s.
constexpr std::array<std::size_t, 5> kLeastMissed{4, 5, 2, 7, 3};

/// Returns the number of terminal columns that the summary columns and the marks after them take.
std::size_t width_of(std::span<const std::size_t> columns) {
  constexpr std::size_t kMarks = 2;
  std::size_t width = kGap.size() + kMarks;
  for (const std::size_t column : columns) width += column > 0 ? kGap.size() + column : 0;
  return width;
}

std::string_view colour_of(Status status) {
  if (is_failure(status)) return kRed;
  return status == Status::kOk ? kGreen : kYellow;
}

/// Returns whether the warm-up never became steady. A number of steps that the user fixed counts as enough.
bool was_never_steady(const Record& record) {
  return record.timing->stop_reason != StopReason::kFixedCount && !record.timing->warm_up.steady;
}

bool has_wide_interval(const Record& record) {
  constexpr double kWide = 0.02;
  return record.timing->relative_half_width.value_or(0) > kWide;
}

/// Returns whether a record is marked as limited by its host. Records of a CPU never are, since a CPU is its own host.
bool is_marked_host_bound(const Record& record) { return record.device && is_host_bound(record); }

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
  const bool is_share = metric == Metric::kMfu || metric == Metric::kCeilingShare || metric == Metric::kFloorShare;
  if (is_share) return fmt::format("{:.1f}", value);
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

std::string status_text(Status status) { return status == Status::kOom ? "OOM" : std::string{to_string(status)}; }

std::string note_of(const Record& record) {
  if (!record.timing) return "";
  std::vector<std::string> notes;
  if (!record.reason.empty()) notes.push_back(record.reason);
  if (record.timing->resolution_limited) notes.emplace_back("under 10 us: resolution limited");
  if (was_never_steady(record)) notes.emplace_back("never steady");
  if (has_wide_interval(record)) notes.emplace_back("wide interval");
  if (is_marked_host_bound(record)) notes.emplace_back("limited by the host");
  if (trace_disagrees(record)) notes.emplace_back("trace disagrees");
  const std::map<std::string, double> counters = counters_of(record);
  if (const auto above = counters.find("above_ceiling"); above != counters.end() && above->second > 0) {
    notes.push_back(
        fmt::format("{:.2f} of its ceiling: the formula or the timing is wrong", counters.at("ceiling_share")));
  }
  return join(notes, "; ");
}

std::string marks_of(std::span<const Record* const> repetitions) {
  const auto any = [&](const auto& what) {
    return std::ranges::any_of(repetitions, [&](const Record* r) { return r->timing && what(*r); });
  };
  std::string marks;
  if (any([](const Record& r) { return r.status != Status::kOk; })) marks += '*';
  if (any([](const Record& r) {
        return r.timing->resolution_limited || was_never_steady(r) || has_wide_interval(r);
      })) {
    marks += '~';
  }
  if (any(is_marked_host_bound)) marks += 'h';
  return marks;
}

std::string marks_cell(std::span<const NamedMarks> times) {
  std::vector<std::string> parts;
  for (const auto& [name, marks] : times) {
    if (marks.empty()) continue;
    parts.push_back(name.empty() ? marks : fmt::format("{} {}", name, marks));
  }
  return join(parts, ", ");
}

Table table_with_marks(std::vector<Column> columns, std::vector<std::vector<Cell>> rows,
                       std::span<const std::string> marks) {
  const bool has_marks = std::ranges::any_of(marks, [](const std::string& of_row) { return !of_row.empty(); });
  if (has_marks) columns.push_back({kMarksHeader, Align::kLeft});
  Table table{std::move(columns)};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (has_marks) rows[i].push_back({.text = marks[i]});
    table.add_row_of(std::move(rows[i]));
  }
  return table;
}

std::vector<std::string> legend_of(std::string_view marks) {
  constexpr std::array<std::pair<char, const char*>, 5> kMeanings{
      {{'*', "* unstable or throttled"},
       {'~', "~ not sharp: under 10 us, never steady, or an interval of over 2 %"},
       {'h', "h limited by the host"},
       {'d', "d computed from the GPU's own times: the host limits a case, or the GPUs differ"},
       {'o', "o not compared: two optimizers"}}};
  std::vector<std::string> legend;
  for (const auto& [mark, meaning] : kMeanings) {
    if (marks.find(mark) != std::string_view::npos) legend.emplace_back(meaning);
  }
  return legend;
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

std::size_t ConsoleTable::numbers_width() { return width_of(kWidths); }

ConsoleTable::ConsoleTable(std::FILE* out, Options options)
    : out_{out}, options_{std::move(options)}, widths_(kWidths.begin(), kWidths.end()) {
  if (!options_.width) return;
  for (const std::size_t column : kLeastMissed) {
    if (options_.name_width + width_of(widths_) > *options_.width) widths_[column] = 0;
  }
  constexpr std::size_t kMinNameWidth = 16;
  const std::size_t room = *options_.width - std::min(*options_.width, width_of(widths_));
  options_.name_width = std::min(options_.name_width, std::max(kMinNameWidth, room));
}

/// Returns the part of the note that fits into the terminal.
/// @param used  columns of the row so far
std::string ConsoleTable::note_for(const Record& record, std::size_t used) {
  std::string note = one_line(note_of(record));
  const std::size_t room = options_.width ? *options_.width - std::min(*options_.width, used + kGap.size()) : 0;
  if (note.empty() || !options_.width || display_width(note) <= room) return note;
  const Record* const one = &record;
  std::string marks = marks_of({&one, 1});
  marks_ += marks;
  return marks.empty() ? fit(note, room) : marks;
}

void ConsoleTable::header() {
  const std::vector<Column> columns = summary_columns();
  std::string line = pad("case", options_.name_width, Align::kLeft);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths_[i] > 0) line += fmt::format("{}{}", kGap, pad(columns[i].header, widths_[i], columns[i].align));
  }
  fmt::print(out_, "{}\n{}\n", without_trailing_spaces(line), std::string(display_width(line), '-'));
  has_header_ = true;
}

void ConsoleTable::row(const Record& record) {
  if (!has_header_) header();
  const std::vector<Column> columns = summary_columns();
  const std::vector<std::string> cells = summary_cells(record);
  const std::string name = options_.name ? fit(options_.name(record.id), options_.name_width) : record.id.name();
  std::string line = pad(name, options_.name_width, Align::kLeft);
  std::size_t used = display_width(line);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_reason = !record.timing && i + 1 == cells.size();
    if (widths_[i] == 0 && !is_reason) continue;
    std::string cell = is_reason ? one_line(cells[i]) : pad(cells[i], widths_[i], columns[i].align);
    used += kGap.size();
    if (is_reason && options_.width) cell = fit(cell, std::max(*options_.width, used) - used);
    used += display_width(cell);
    if (i == 0 && options_.colour) cell = fmt::format("{}{}{}", colour_of(record.status), cell, kPlain);
    line += fmt::format("{}{}", kGap, cell);
  }
  if (const std::string note = note_for(record, used); !note.empty()) line += fmt::format("{}{}", kGap, note);
  fmt::print(out_, "{}\n", without_trailing_spaces(std::move(line)));
  std::fflush(out_);
  ++counts_[record.status];
}

void ConsoleTable::summary(Seconds elapsed, const std::optional<std::string>& path) {
  std::size_t total = 0;
  std::string parts;
  for (const auto& [status, count] : counts_) {
    parts += fmt::format("{}{} {}", parts.empty() ? ": " : ", ", count, to_string(status));
    total += count;
  }
  const std::string place = path ? fmt::format("; results in {}", *path) : "";
  fmt::print(out_, "\n");
  for (const std::string& meaning : legend_of(marks_)) fmt::print(out_, "{}\n", meaning);
  fmt::print(out_, "{}{}{}; {}\n", counted(total, "case"), parts, place, format_duration(elapsed));
  std::fflush(out_);
}

}  // namespace tbench::render
