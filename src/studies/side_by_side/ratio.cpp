#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/studies/side_by_side.hpp"

namespace tbench::studies {
namespace {

/// The records of one cell, for `over` and for each `of`. A record that does not exist is null.
struct Pair {
  const Record* over{};
  std::vector<const Record*> of;

  [[nodiscard]] bool is_whole() const {
    return over != nullptr && std::ranges::any_of(of, [](const Record* r) { return r != nullptr; });
  }
};

/// Cells by their names, in the order of their first records.
class Cells {
 public:
  Pair& at(const std::string& name) {
    const auto [found, is_new] = index_.emplace(name, cells_.size());
    if (is_new) cells_.emplace_back(name, Pair{});
    return cells_[found->second].second;
  }
  [[nodiscard]] const Pair* find(const std::string& name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &cells_[found->second].second;
  }
  [[nodiscard]] const std::vector<std::pair<std::string, Pair>>& all() const { return cells_; }

 private:
  std::vector<std::pair<std::string, Pair>> cells_;
  std::map<std::string, std::size_t> index_;
};

/// Returns the keys of all selectors.
std::vector<std::string_view> selected_keys(const RatioOptions& options) {
  std::vector<std::string_view> keys;
  for (const auto& [key, value] : options.over) keys.push_back(key);
  for (const Selector& selector : options.of) {
    for (const auto& [key, value] : selector) keys.push_back(key);
  }
  return keys;
}

double milliseconds(const Record& record) { return to_milliseconds(record.timing->median); }

/// Returns the cells of one file.
Cells cells_of(const results::ResultFile& file, const RatioOptions& options) {
  const std::vector<std::string_view> keys = selected_keys(options);
  const CaseFilter passes{options.filter, "--filter"};
  Cells cells;
  for (const Record& record : file.records) {
    const bool is_over = record.id.has(options.over);
    for (std::size_t i = 0; i < options.of.size(); ++i) {
      if (!is_over && !record.id.has(options.of[i])) continue;
      const std::string name = without(record.id, keys).name();
      if (!passes(name)) continue;
      Pair& pair = cells.at(name);
      pair.of.resize(options.of.size());
      (is_over ? pair.over : pair.of[i]) = &record;
    }
  }
  return cells;
}

std::string gpu_of(const results::ResultFile& file, const Record& record) {
  return gpu_uuid(file.environment, record.machine);
}

/// Leaves out the `of` records that another machine measured than the `over` record.
void keep_one_machine(Pair& pair) {
  for (const Record*& of : pair.of) {
    if (of != nullptr && of->machine != pair.over->machine) of = nullptr;
  }
}

/// Adds the `of` records that a file lacks, from the other files, if the GPU of the `over` record measured them.
void complete(Pair& pair, const std::string& name, std::size_t self, std::span<const results::NamedResults> results,
              const std::vector<Cells>& cells) {
  const std::string gpu = gpu_of(results[self].file, *pair.over);
  for (std::size_t other = 0; other < cells.size(); ++other) {
    const Pair* const theirs = other == self ? nullptr : cells[other].find(name);
    if (theirs == nullptr) continue;
    for (std::size_t i = 0; i < theirs->of.size(); ++i) {
      const Record* const of = theirs->of[i];
      if (of != nullptr && gpu_of(results[other].file, *of) == gpu) pair.of[i] = of;
    }
  }
}

Cells all_cells(std::span<const results::NamedResults> results, const RatioOptions& options) {
  std::vector<Cells> by_file;
  for (const results::NamedResults& result : results) by_file.push_back(cells_of(result.file, options));
  Cells cells;
  for (std::size_t i = 0; i < by_file.size(); ++i) {
    for (const auto& [name, found] : by_file[i].all()) {
      if (found.over == nullptr) continue;
      Pair pair = found;
      keep_one_machine(pair);
      if (!pair.is_whole()) complete(pair, name, i, results, by_file);
      cells.at(name) = std::move(pair);
    }
  }
  if (cells.all().empty()) {
    throw UsageError{fmt::format("--over: no case with {}; give a file that has both sides", values_of(options.over))};
  }
  return cells;
}

/// Returns the index of the fastest `of` with a time, or nullopt if none has a time.
std::optional<std::size_t> fastest(const Pair& pair) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < pair.of.size(); ++i) {
    if (pair.of[i] == nullptr || !pair.of[i]->timing) continue;
    if (!best || pair.of[i]->timing->median.value < pair.of[*best]->timing->median.value) best = i;
  }
  return best;
}

struct Ratio {
  double value{};
  std::string marks;
};

/// Returns the ratio of the medians. If the host limits a side and the GPU's own times are known, returns their ratio.
Ratio ratio_of(const Record& of, const Record& over) {
  const auto either = [&](const auto& what) { return what(over) || what(of); };
  Ratio ratio{.value = milliseconds(of) / milliseconds(over), .marks = over.timing->resolution_limited ? "~" : ""};
  if (either(&is_host_bound)) {
    const std::optional<Seconds> own = device_time(of), base = device_time(over);
    if (own && base) ratio.value = *own / *base;
    ratio.marks += own && base ? "d" : "h";
  }
  if (either([](const Record& r) { return r.status != Status::kOk; })) ratio.marks += "*";
  return ratio;
}

/// Returns the header of a parameter of the rows.
std::string row_header(const std::string& key) { return key == "causal" ? "mask" : key; }

std::string row_value(const CaseId& id, const std::string& key) {
  const std::string* const value = id.find(key);
  if (value == nullptr) throw UsageError{fmt::format("--rows: {} has no parameter '{}'", id.name(), key)};
  if (key == "causal") return *value == "1" ? "causal" : "full";
  const std::string* const deterministic = id.find("deterministic");
  if (key == "pass" && deterministic != nullptr && *deterministic == "1") return *value + ", same bits every time";
  return *value;
}

/// Refuses two cases in one cell of a pivot, of which only one could be shown.
[[noreturn]] void refuse_shared_cell(const CaseId& one, const CaseId& other, const RatioOptions& options) {
  std::vector<std::string> differ;
  for (const auto& [key, value] : one.parameters()) {
    const std::string* const theirs = other.find(key);
    if (theirs == nullptr || *theirs != value) differ.push_back(key);
  }
  throw UsageError{
      fmt::format("--rows={}: cases that differ in {} have the same row; add {} or select one with --filter",
                  join(options.rows, ","), join(differ, " and "), join(differ, ","))};
}

/// A cell of a pivot, and the record of `over` that it shows.
struct PivotCell {
  render::Cell cell;
  const Record* over{};
};

render::Table pivoted(const Cells& cells, const RatioOptions& options) {
  std::vector<std::pair<std::string, std::map<std::int64_t, PivotCell>>> rows;
  std::set<std::int64_t> columns;
  for (const auto& [name, pair] : cells.all()) {
    const std::optional<std::size_t> best = fastest(pair);
    if (!best || !pair.over->timing) continue;
    std::vector<std::string> values;
    for (const std::string& key : options.rows) values.push_back(row_value(pair.over->id, key));
    const std::string row = join(values, " ");
    auto found = std::ranges::find(rows, row, [](const auto& r) { return r.first; });
    if (found == rows.end()) found = rows.insert(rows.end(), {row, {}});
    const std::int64_t column = pair.over->id.int_at(options.pivot);
    columns.insert(column);
    PivotCell& shown = found->second[column];
    if (shown.over != nullptr) refuse_shared_cell(shown.over->id, pair.over->id, options);
    const Ratio ratio = ratio_of(*pair.of[*best], *pair.over);
    const std::string winner = options.of.size() > 1 ? values_of(options.of[*best]) + " " : "";
    shown = {.cell = {.text = fmt::format("{}{:.2f}", winner, ratio.value), .value = ratio.value, .marks = ratio.marks},
             .over = pair.over};
  }
  std::vector<std::string> names;
  for (const std::string& key : options.rows) names.push_back(row_header(key));
  std::vector<render::Column> header{{join(names, " ")}};
  for (const std::int64_t column : columns) header.push_back({std::to_string(column), render::Align::kRight});
  std::vector<std::vector<render::Cell>> lines;
  std::vector<std::string> marks_of_lines;
  for (auto& [row, values] : rows) {
    std::vector<render::Cell> line{{.text = row}};
    std::vector<render::NamedMarks> of_row;
    for (const std::int64_t column : columns) {
      line.push_back(std::move(values[column].cell));
      of_row.push_back({std::to_string(column), line.back().marks});
    }
    lines.push_back(std::move(line));
    marks_of_lines.push_back(render::marks_cell(of_row));
  }
  return render::table_with_marks(std::move(header), std::move(lines), marks_of_lines);
}

render::Table listed(const Cells& cells, const RatioOptions& options) {
  const std::string over = values_of(options.over);
  std::vector<render::Column> header{
      {"case"}, {over + ", ms", render::Align::kRight}, {"TFLOP/s", render::Align::kRight}};
  for (const Selector& of : options.of) {
    header.push_back({fmt::format("{} / {}", values_of(of), over), render::Align::kRight});
  }
  header.push_back({"best other", render::Align::kRight});
  std::vector<std::vector<render::Cell>> lines;
  std::vector<std::string> marks_of_lines;
  for (const auto& [name, pair] : cells.all()) {
    std::vector<render::Cell>& line = lines.emplace_back();
    line.push_back({.text = keys_and_values(CaseId::parse(name))});
    if (!pair.over->timing) {
      line.push_back({.text = std::string{to_string(pair.over->status)}});
      line.resize(header.size());
      marks_of_lines.emplace_back();
      continue;
    }
    const double time = milliseconds(*pair.over);
    const double flop = pair.over->work ? pair.over->work->flop.value : 0;
    line.push_back({.text = fmt::format("{:.4g}", time), .value = time});
    line.push_back(flop > 0 ? render::number_cell(flop / pair.over->timing->median.value / 1e12, 1) : render::Cell{});
    std::vector<render::NamedMarks> marks;
    for (std::size_t i = 0; i < pair.of.size(); ++i) {
      const bool has_time = pair.of[i] != nullptr && pair.of[i]->timing;
      const Ratio ratio = has_time ? ratio_of(*pair.of[i], *pair.over) : Ratio{};
      line.push_back(has_time ? render::number_cell(ratio.value, 3) : render::Cell{});
      line.back().marks = ratio.marks;
      marks.push_back({values_of(options.of[i]), ratio.marks});
    }
    const std::optional<std::size_t> best = fastest(pair);
    line.push_back({.text = best ? values_of(options.of[*best]) : ""});
    marks_of_lines.push_back(render::marks_cell(marks));
  }
  return render::table_with_marks(std::move(header), std::move(lines), marks_of_lines);
}

}  // namespace

Selector parse_selector(const std::string& text, const std::string& flag) {
  try {
    Selector selector = CaseId::parse("Any/" + text).parameters();
    if (!selector.empty()) return selector;
  } catch (const std::invalid_argument&) {
  }
  std::string meant = text;
  std::ranges::replace(meant, '=', ':');
  throw UsageError{fmt::format(
      "{}: '{}' selects nothing; {}", flag, text,
      meant == text ? "give key:value, or several with / between them" : fmt::format("did you mean '{}'?", meant))};
}

render::Table ratio_table(std::span<const results::NamedResults> results, const RatioOptions& options) {
  const Cells cells = all_cells(results, options);
  render::Table table = options.pivot.empty() ? listed(cells, options) : pivoted(cells, options);
  if (table.empty()) {
    throw UsageError{"--of: no case has a time on both sides; give the values that the files have"};
  }
  return table;
}

}  // namespace tbench::studies
