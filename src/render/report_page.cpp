#include "tbench/render/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/pivot.hpp"
#include "tbench/render/wrap.hpp"
#include "tbench/results/companion_files.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::render {
namespace {

using Texts = std::vector<std::string>;

std::vector<CaseId> ids_of(std::span<const Record> records) {
  std::vector<CaseId> ids;
  ids.reserve(records.size());
  for (const Record& record : records) ids.push_back(record.id);
  return ids;
}

/// Returns the keys of `wanted` that the records have.
Texts present_keys(std::span<const Record> records, const Texts& wanted) {
  const Texts known = keys_of(ids_of(records));
  Texts present;
  for (const std::string& key : wanted) {
    if (std::ranges::find(known, key) != known.end()) present.push_back(key);
  }
  return present;
}

void check_pivot(std::span<const Record> records, const Texts& wanted) {
  const Texts known = keys_of(ids_of(records));
  for (const std::string& key : wanted) {
    if (std::ranges::find(known, key) != known.end()) continue;
    throw UsageError{with_suggestion(fmt::format("--pivot: no case has the key '{}'", key), key, known, "keys")};
  }
}

std::string caption_of(const CaseId& id, const Texts& common) {
  Texts parts;
  for (const std::string& key : common) parts.push_back(fmt::format("{}:{}", key, id.at(key)));
  return id.family() + (parts.empty() ? "" : ", ") + join(parts, " ");
}

bool has_note(const Record& record) { return !note_of(record).empty(); }

/// Returns whether the metric depends on the time. Peak memory does not, so marks on the time do not apply to it.
bool is_of_time(Metric metric) { return metric != Metric::kMemory; }

/// Returns the median over the repetitions that have a time and the metric, or nullopt if none does.
std::optional<double> metric_of(const std::vector<const Record*>& repetitions, Metric metric) {
  std::vector<double> values;
  for (const Record* record : repetitions) {
    const std::optional<double> value = record->timing ? metric_value(*record, metric) : std::nullopt;
    if (value) values.push_back(*value);
  }
  return values.empty() ? std::nullopt : std::optional{stats::median(values)};
}

/// Returns the cell of a case, from all its repetitions.
std::string cell_of(const std::vector<const Record*>& repetitions, Metric metric) {
  if (repetitions.empty()) return {};
  const auto failed = static_cast<std::size_t>(
      std::ranges::count_if(repetitions, [](const Record* record) { return !record->timing; }));
  if (failed == repetitions.size()) return status_text(repetitions.front()->status);
  const std::optional<double> value = metric_of(repetitions, metric);
  if (!value) return {};
  std::string cell = format_metric(*value, metric);
  if (failed > 0) cell += fmt::format(" ({} of {} failed)", failed, repetitions.size());
  return cell;
}

std::string version(const Environment& environment, const std::string& name) {
  const auto found = environment.versions.find(name);
  return found == environment.versions.end() ? "" : found->second;
}

/// Returns the parts that are not empty, joined by commas.
std::string list_of(Texts parts) {
  std::erase(parts, "");
  return one_line(join(parts, ", "));
}

Texts gpu_parts(const Environment& environment) {
  const GpuFacts& gpu = *environment.gpu;
  const std::int64_t others = gpu.other_processes.value_or(0);
  const std::string use = !gpu.other_processes ? ""
                          : others == 0        ? "idle"
                                               : counted(others, "other process", "other processes");
  return {gpu.name + " " + results::machine_of(environment), format_gibibytes(gpu.memory_bytes, 0) + " GiB",
          gpu.power_limit_w ? fmt::format("{:.0f} W", *gpu.power_limit_w) : "",
          "driver " + version(environment, "driver"), use};
}

/// Returns ` on 2 machines (3fbd+9bd5)`, or nothing if one machine measured.
std::string several_machines(const Environment& environment) {
  if (environment.machines.size() < 2) return "";
  return fmt::format(" on {} machines ({})", environment.machines.size(), results::machine_of(environment));
}

struct Fact {
  std::string label;
  std::string text;
};

/// Returns the facts that are known.
std::vector<Fact> facts_of(const results::ResultFile& file) {
  const Environment& environment = file.environment;
  std::vector<Fact> facts;
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) facts.push_back({label, one_line(text)});
  };
  if (environment.gpu) {
    add("GPU", environment.gpu->name + several_machines(environment));
    add("driver", version(environment, "driver"));
  } else {
    add("CPU", fmt::format("{}, {} cores", environment.cpu_name, environment.cpu_cores));
  }
  add("LibTorch", version(environment, "libtorch"));
  if (environment.gpu) add("clock policy", environment.clock_policy);
  add("date", environment.date);
  add("build", fmt::format("{} {}", environment.build_type, build_name(environment)));
  if (file.interrupted) add("run", "interrupted");
  return facts;
}

FamilyTable table_of(std::span<const Record> family, const ReportOptions& options) {
  const Texts keys = present_keys(family, options.pivot);
  return keys.empty() ? family_table(family) : pivot_table(family, keys, options.show);
}

}  // namespace

std::string environment_line(const results::ResultFile& file) {
  Texts parts;
  for (const Fact& fact : facts_of(file)) parts.push_back(fmt::format("{} {}", fact.label, fact.text));
  return join(parts, ", ");
}

std::string machine_line(const Environment& environment) {
  const Texts machine = environment.gpu ? gpu_parts(environment)
                                        : Texts{environment.cpu_name, fmt::format("{} cores", environment.cpu_cores)};
  const Texts build{environment.build_type + " " + build_name(environment),
                    "LibTorch " + version(environment, "libtorch")};
  return list_of(machine) + " | " + list_of(build);
}

std::string environment_header(const results::ResultFile& file, bool markdown) {
  if (markdown) return escape_markdown(environment_line(file)) + "\n";
  std::string header;
  std::size_t width = 0;
  const std::vector<Fact> facts = facts_of(file);
  for (const Fact& fact : facts) width = std::max(width, display_width(fact.label));
  for (const Fact& fact : facts) header += fmt::format("{}  {}\n", pad(fact.label, width, Align::kLeft), fact.text);
  return header;
}

std::vector<std::vector<Record>> group_by_family(std::span<const Record> records) {
  std::vector<std::vector<Record>> families;
  for (const Record& record : records) {
    const auto found = std::ranges::find_if(
        families, [&](const auto& family) { return family.front().id.family() == record.id.family(); });
    if (found == families.end()) {
      families.push_back({record});
    } else {
      found->push_back(record);
    }
  }
  return families;
}

FamilyTable family_table(std::span<const Record> records) {
  const Pivot pivot = pivot_of(ids_of(records), {});
  const bool has_repetitions = std::ranges::any_of(records, [](const Record& r) { return r.repetitions > 1; });
  const bool has_notes = std::ranges::any_of(records, has_note);
  std::vector<Column> columns;
  for (const std::string& key : pivot.row_keys) columns.push_back({key, Align::kLeft});
  if (has_repetitions) columns.push_back({"repetition", Align::kRight});
  std::ranges::copy(summary_columns(), std::back_inserter(columns));
  if (has_notes) columns.push_back({"note", Align::kLeft});
  Table table{std::move(columns)};
  for (const Record& record : records) {
    Texts cells = values_of(record.id, pivot.row_keys);
    if (has_repetitions) cells.push_back(fmt::format("{}", record.repetition_index));
    std::ranges::copy(summary_cells(record), std::back_inserter(cells));
    if (has_notes && record.timing) cells.push_back(note_of(record));
    table.add_row(std::move(cells));
  }
  return {caption_of(records.front().id, pivot.common), std::move(table)};
}

FamilyTable pivot_table(std::span<const Record> records, std::span<const std::string> keys, Metric metric) {
  const Pivot pivot = pivot_of(ids_of(records), keys);
  std::vector<Column> columns;
  for (const std::string& key : pivot.row_keys) columns.push_back({key, Align::kLeft});
  for (const Texts& values : pivot.columns) {
    Texts header;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!values[i].empty()) header.push_back(fmt::format("{}:{}", keys[i], values[i]));
    }
    columns.push_back({join(header, " "), Align::kRight});
  }
  std::vector<std::vector<Cell>> rows;
  Texts marks_of_rows;
  for (const Pivot::Row& row : pivot.rows) {
    std::vector<Cell> cells;
    for (const std::string& value : row.values) cells.push_back({.text = value});
    std::vector<NamedMarks> marks;
    for (std::size_t column = 0; column < row.columns.size(); ++column) {
      std::vector<const Record*> repetitions;
      for (const std::size_t i : row.columns[column]) repetitions.push_back(&records[i]);
      cells.push_back({.text = cell_of(repetitions, metric)});
      // A cell without a number has nothing to mark.
      const bool has_number = metric_of(repetitions, metric).has_value();
      if (is_of_time(metric)) {
        const std::string name = pivot.columns.size() > 1 ? join(pivot.columns[column], "/") : "";
        marks.push_back({name, has_number ? marks_of(repetitions) : ""});
      }
    }
    rows.push_back(std::move(cells));
    marks_of_rows.push_back(marks_cell(marks));
  }
  std::vector<const Record*> all;
  for (const Record& record : records) all.push_back(&record);
  const Texts legend = is_of_time(metric) ? legend_of(marks_of(all)) : Texts{};
  return {fmt::format("{}, {}{}", caption_of(records.front().id, pivot.common), metric_header(metric),
                      legend.empty() ? "" : fmt::format(" ({})", join(legend, "; "))),
          table_with_marks(std::move(columns), std::move(rows), marks_of_rows)};
}

std::string report_page(const results::ResultFile& file, const ReportOptions& options) {
  const std::vector<Record> records = results::select_records(file.records, options.filter);
  check_pivot(records, options.pivot);
  Texts blocks;
  if (options.environment) blocks.push_back(environment_header(file, options.markdown));
  for (const std::vector<Record>& family : group_by_family(records)) {
    const FamilyTable table = table_of(family, options);
    const std::string caption = one_line(table.caption);
    if (options.markdown) {
      blocks.push_back(fmt::format("**{}**\n\n{}", escape_markdown(caption), table.table.markdown()));
    } else {
      const std::string line = options.max_width ? wrapped_text(caption, *options.max_width) : caption + "\n";
      blocks.push_back(line + table.table.console(options.max_width));
    }
  }
  if (records.empty()) blocks.emplace_back("No cases.\n");
  return join(blocks, "\n");
}

}  // namespace tbench::render
