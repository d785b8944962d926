#include "tbench/report/pivot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tbench/core/statistics.hpp"
#include "tbench/core/text.hpp"

namespace tbench::report {
namespace {

using Texts = std::vector<std::string>;

void append_new(Texts& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

/// A parameter's value; empty where the case has no such key.
std::string value_of(const Record& record, const std::string& key) {
  for (const auto& [candidate, value] : record.id.parameters()) {
    if (candidate == key) return value;
  }
  return {};
}

Texts values_of(const Record& record, std::span<const std::string> keys) {
  Texts values;
  for (const std::string& key : keys) values.push_back(value_of(record, key));
  return values;
}

/// Keys by whether all records have one value. In order of appearance.
struct Keys {
  Texts common;
  Texts varying;
};

Keys keys_of(std::span<const Record> records) {
  Texts all;
  for (const Record& record : records) {
    for (const auto& [key, value] : record.id.parameters()) append_new(all, key);
  }
  Keys keys;
  for (const std::string& key : all) {
    std::set<std::string> values;
    for (const Record& record : records) values.insert(value_of(record, key));
    (values.size() == 1 ? keys.common : keys.varying).push_back(key);
  }
  return keys;
}

std::string caption_of(const Record& record, const Texts& common) {
  std::string caption = record.id.family();
  const char* separator = ", ";
  for (const std::string& key : common) {
    caption += fmt::format("{}{}:{}", separator, key, value_of(record, key));
    separator = " ";
  }
  return caption;
}

bool has_note(const Record& record) { return !note_of(record).empty(); }

bool is_unsure(const Record& record) { return record.timing && record.status != Status::kOk; }

bool is_resolution_limited(const Record& record) { return record.timing && record.timing->resolution_limited; }

/// What a pivoted cell says of a case without a time.
std::string status_text(Status status) { return status == Status::kOom ? "OOM" : std::string{to_string(status)}; }

/// All repetitions of one case in one cell.
std::string cell_of(std::span<const Record* const> repetitions, Metric metric) {
  std::vector<double> values;
  std::size_t failed = 0;
  bool is_marked = false;
  bool is_short = false;
  for (const Record* record : repetitions) {
    if (!record->timing) ++failed;
    is_marked = is_marked || is_unsure(*record);
    is_short = is_short || is_resolution_limited(*record);
    const std::optional<double> value = record->timing ? metric_value(*record, metric) : std::nullopt;
    if (value) values.push_back(*value);
  }
  if (repetitions.empty()) return {};
  if (failed == repetitions.size()) return status_text(repetitions.front()->status);
  if (values.empty()) return {};
  std::string cell = format_metric(median(values), metric);
  if (is_marked) cell += "*";
  if (is_short) cell += "~";
  if (failed > 0) cell += fmt::format(" ({} of {} failed)", failed, repetitions.size());
  return cell;
}

}  // namespace

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
  const Keys keys = keys_of(records);
  const bool has_repetitions = std::ranges::any_of(records, [](const Record& r) { return r.repetitions > 1; });
  const bool has_notes = std::ranges::any_of(records, has_note);
  std::vector<Column> columns;
  for (const std::string& key : keys.varying) columns.push_back({key, Align::kLeft});
  if (has_repetitions) columns.push_back({"repetition", Align::kRight});
  std::ranges::copy(summary_columns(), std::back_inserter(columns));
  if (has_notes) columns.push_back({"note", Align::kLeft});
  Table table{std::move(columns)};
  for (const Record& record : records) {
    Texts cells = values_of(record, keys.varying);
    if (has_repetitions) cells.push_back(fmt::format("{}", record.repetition_index));
    std::ranges::copy(summary_cells(record), std::back_inserter(cells));
    if (has_notes && record.timing) cells.push_back(note_of(record));
    table.add_row(std::move(cells));
  }
  return {caption_of(records.front(), keys.common), std::move(table)};
}

FamilyTable pivot_table(std::span<const Record> records, std::span<const std::string> keys, Metric metric) {
  Keys of_rows = keys_of(records);
  const auto is_pivoted = [&](const std::string& key) { return std::ranges::find(keys, key) != keys.end(); };
  std::erase_if(of_rows.varying, is_pivoted);
  std::erase_if(of_rows.common, is_pivoted);

  std::vector<Texts> rows;
  std::vector<Texts> spread;
  for (const Record& record : records) {
    const Texts row = values_of(record, of_rows.varying);
    if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
    const Texts values = values_of(record, keys);
    if (std::ranges::find(spread, values) == spread.end()) spread.push_back(values);
  }

  std::vector<Column> columns;
  for (const std::string& key : of_rows.varying) columns.push_back({key, Align::kLeft});
  for (const Texts& values : spread) {
    Texts header;
    for (std::size_t i = 0; i < keys.size(); ++i) header.push_back(fmt::format("{}:{}", keys[i], values[i]));
    columns.push_back({join(header, " "), Align::kRight});
  }
  Table table{std::move(columns)};
  for (const Texts& row : rows) {
    Texts cells = row;
    for (const Texts& values : spread) {
      std::vector<const Record*> repetitions;
      for (const Record& record : records) {
        if (values_of(record, of_rows.varying) == row && values_of(record, keys) == values)
          repetitions.push_back(&record);
      }
      cells.push_back(cell_of(repetitions, metric));
    }
    table.add_row(std::move(cells));
  }
  return {
      fmt::format("{}, {}{}{}", caption_of(records.front(), of_rows.common), metric_header(metric),
                  std::ranges::any_of(records, is_unsure) ? " (* unstable or throttled)" : "",
                  std::ranges::any_of(records, is_resolution_limited) ? " (~ under 10 us: resolution limited)" : ""),
      std::move(table)};
}

}  // namespace tbench::report
