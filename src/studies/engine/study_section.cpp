#include "studies/engine/study_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "studies/engine/section_columns.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/pivot.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kMinFitted = 3;  // minimum number of points; two points always lie on a line

/// Returns the values in a header, such as `sdpa/graph` for `impl:sdpa exec:graph speed-up`.
std::string values_in(const std::string& header) {
  Texts values;
  for (const std::string& part : split(header, ' ')) {
    const std::size_t colon = part.find(':');
    if (colon != std::string::npos) values.push_back(part.substr(colon + 1));
  }
  return join(values, "/");
}

/// Returns the comparison of a quantity with its base, or an empty cell if either is unknown.
StudyCell held_against(const std::optional<double>& base, const std::optional<double>& own, StudyComparison as) {
  if (!base || !own) return {};
  const double difference = *own - *base;
  switch (as) {
    case StudyComparison::kSpeedUp:
      if (*own <= 0) return {};
      return {.text = fmt::format("{:.3f}", *base / *own), .value = *base / *own};
    case StudyComparison::kChange:
      if (*base <= 0) return {};
      return {.text = fmt::format("{:+.1f}", 100 * difference / *base), .value = 100 * difference / *base};
    case StudyComparison::kPoints:
      return {.text = fmt::format("{:+.1f}", difference), .value = difference};
  }
  return {};
}

/// Groups the cases (StudyTable::together_before). The groups are in the order of their first cases.
std::vector<CaseId> put_together(std::vector<CaseId> cases, const std::string& key) {
  const auto group_of = [&](const CaseId& id) {
    const auto end = std::ranges::find(id.parameters(), key, &CaseId::Parameter::first);
    return std::vector<CaseId::Parameter>{id.parameters().begin(), end};
  };
  std::map<std::vector<CaseId::Parameter>, std::size_t> order;
  for (const CaseId& id : cases) order.emplace(group_of(id), order.size());
  std::ranges::stable_sort(cases, {}, [&](const CaseId& id) { return order.at(group_of(id)); });
  return cases;
}

/// Builds one table of a study, with rows for the varying keys and columns for the combinations of the spread keys.
class Section {
 public:
  Section(const StudyTable& table, CaseCells& cells);
  /// Returns nullopt for a table without cases.
  [[nodiscard]] std::optional<StudySection> build();

 private:
  using Row = render::Pivot::Row;

  [[nodiscard]] const CaseId* case_at(const Row& row, std::size_t column) const;
  [[nodiscard]] std::string marks_of(const std::vector<StudyCell>& row) const;
  void add_marks();
  void add_rows(const Row& row);
  [[nodiscard]] std::vector<StudyCell> head_of(const Row& row) const;
  [[nodiscard]] std::vector<StudyCell> row_of(const Row& row);
  [[nodiscard]] StudyCell speed_up(const CaseId& base, const CaseId& own, const StudyColumn& column) const;
  void add_speed_ups(std::vector<StudyCell>& cells, const Row& row) const;
  void add_boundary(std::vector<StudyCell>& cells, const Row& row) const;
  [[nodiscard]] std::vector<std::pair<std::size_t, const CaseId*>> known_cases(const Row& row) const;
  void add_fit(std::vector<StudyCell>& cells, const Row& row) const;

  const StudyTable& table_;
  CaseCells& cells_;
  std::vector<CaseId> cases_;
  render::Pivot pivot_;
  SectionColumns columns_{table_, pivot_};
  StudySection section_;
};

Section::Section(const StudyTable& table, CaseCells& cells)
    : table_{table}, cells_{cells}, cases_{cases_of(cells.all(), table.only, table.family)} {
  if (!table.together_before.empty()) cases_ = put_together(std::move(cases_), table.together_before);
  pivot_ = render::pivot_of(cases_, table.spread);
}

/// Returns the case of a row and a column, or null if the study has no such case.
const CaseId* Section::case_at(const Row& row, std::size_t column) const {
  return row.columns[column].empty() ? nullptr : &cases_[row.columns[column].front()];
}

/// Returns the comparison of a case with its base. If the host or different GPUs make the times incomparable, it uses
/// the GPU's own times, if both are known.
StudyCell Section::speed_up(const CaseId& base, const CaseId& own, const StudyColumn& column) const {
  const StudySpeedUp& how = *table_.speed_up;
  const bool is_of_impl = std::ranges::find(how.base, "impl", &CaseId::Parameter::first) != how.base.end();
  if (column.device && !is_of_impl && cells_.optimizer(base) != cells_.optimizer(own))
    return {.text = {}, .marks = "o"};
  const bool is_incomparable = cells_.is_host_bound(base) || cells_.is_host_bound(own) || !cells_.share_gpus(base, own);
  const auto device_of_base = cells_.device(base, column), device_of_own = cells_.device(own, column);
  if (!is_incomparable || !device_of_base || !device_of_own) {
    return held_against(cells_.value(base, column), cells_.value(own, column), how.as);
  }
  StudyCell cell = held_against(device_of_base, device_of_own, how.as);
  cell.marks = "d";
  return cell;
}

void Section::add_speed_ups(std::vector<StudyCell>& cells, const Row& row) const {
  for (std::size_t i = 0; i < pivot_.columns.size(); ++i) {
    const std::optional<std::size_t> base = columns_.base_of(pivot_.columns[i]);
    if (!base) continue;
    const CaseId* const of_base = case_at(row, *base);
    const CaseId* const own = case_at(row, i);
    for (const StudyColumn& column : table_.columns) {
      if (!columns_.has(pivot_.columns[i], column)) continue;
      cells.push_back(of_base != nullptr && own != nullptr ? speed_up(*of_base, *own, column) : StudyCell{});
    }
  }
}

void Section::add_boundary(std::vector<StudyCell>& cells, const Row& row) const {
  std::string largest;
  std::string first_oom;
  for (std::size_t i = 0; i < pivot_.columns.size() && first_oom.empty(); ++i) {
    const CaseId* const id = case_at(row, i);
    if (id == nullptr) continue;
    const std::span<const Record* const> records = cells_.records(*id);
    const auto is_oom = [](const Record* record) { return record->status == Status::kOom; };
    const auto has_fitted = [](const Record* record) { return has_time(record->status); };
    const std::string& value = pivot_.columns[i].front();
    if (std::ranges::any_of(records, is_oom)) {
      first_oom = value;
    } else if (std::ranges::any_of(records, has_fitted)) {
      largest = value;
    }
  }
  const bool is_open = first_oom.empty() && !largest.empty();
  cells.push_back({.text = (is_open ? ">= " : "") + largest});
  cells.push_back({.text = first_oom});
}

/// Returns the cases of a row whose first quantity is known, by column.
std::vector<std::pair<std::size_t, const CaseId*>> Section::known_cases(const Row& row) const {
  std::vector<std::pair<std::size_t, const CaseId*>> known;
  for (std::size_t i = 0; i < pivot_.columns.size(); ++i) {
    const CaseId* const id = case_at(row, i);
    if (id != nullptr && cells_.value(*id, table_.columns.front())) known.emplace_back(i, id);
  }
  return known;
}

/// Adds the fit over a row. If the host limits one of its cases, the fit takes the GPU's own times of all, provided
/// that all are known. Otherwise it leaves out the cases that the host limits.
void Section::add_fit(std::vector<StudyCell>& cells, const Row& row) const {
  const StudyColumn& quantity = table_.columns.front();
  const auto known = known_cases(row);
  const auto is_limited = [&](const auto& of) { return cells_.is_host_bound(*of.second); };
  const bool is_of_device = std::ranges::any_of(known, is_limited) && std::ranges::all_of(known, [&](const auto& of) {
                              return cells_.device(*of.second, quantity).has_value();
                            });
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& of : known) {
    if (!is_of_device && is_limited(of)) continue;
    x.push_back(table_.fit->x(pivot_.columns[of.first].front(), cells_.all().sizes));
    y.push_back(is_of_device ? cells_.device(*of.second, quantity).value()
                             : cells_.value(*of.second, quantity).value());
  }
  const auto law = x.size() < kMinFitted ? std::nullopt : stats::power_law_fit(x, y);
  if (!law) return cells.resize(cells.size() + 2);
  cells.push_back(
      {.text = fmt::format("{:.3f}", law->exponent), .value = law->exponent, .marks = is_of_device ? "d" : ""});
  cells.push_back({.text = fmt::format("{:.4f}", law->r_squared), .value = law->r_squared});
}

/// Returns the cells with the values of the row's keys.
std::vector<StudyCell> Section::head_of(const Row& row) const {
  std::vector<StudyCell> cells;
  for (std::size_t i = 0; i < row.values.size(); ++i) cells.push_back(key_cell(pivot_.row_keys[i], row.values[i]));
  return cells;
}

std::vector<StudyCell> Section::row_of(const Row& row) {
  std::vector<StudyCell> cells = head_of(row);
  for (std::size_t i = 0; i < pivot_.columns.size(); ++i) {
    bool is_first = true;
    for (const StudyColumn& column : table_.columns) {
      if (!columns_.has(pivot_.columns[i], column)) continue;
      const CaseId* const id = case_at(row, i);
      cells.push_back(id != nullptr ? cells_.cell(*id, column, is_first) : StudyCell{});
      is_first = false;
    }
  }
  if (table_.speed_up) add_speed_ups(cells, row);
  if (table_.has_boundary) add_boundary(cells, row);
  if (table_.fit) add_fit(cells, row);
  return cells;
}

/// Adds the rows of a row's cases. With a row for every quantity, those that no case has are left out, but the first.
void Section::add_rows(const Row& row) {
  if (!table_.quantities_down) {
    section_.rows.push_back(row_of(row));
    return;
  }
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    std::vector<StudyCell> cells = head_of(row);
    cells.push_back({.text = table_.columns[i].header});
    for (std::size_t column = 0; column < pivot_.columns.size(); ++column) {
      const CaseId* const id = case_at(row, column);
      cells.push_back(id != nullptr ? cells_.cell(*id, table_.columns[i], i == 0) : StudyCell{});
    }
    const bool has_text = std::ranges::any_of(cells.begin() + static_cast<std::ptrdiff_t>(row.values.size()) + 1,
                                              cells.end(), [](const StudyCell& cell) { return !cell.text.empty(); });
    if (i == 0 || has_text) section_.rows.push_back(std::move(cells));
  }
}

/// Returns the marks of a row. If the table spreads cases over several columns, each mark follows the values of its
/// column.
std::string Section::marks_of(const std::vector<StudyCell>& row) const {
  std::vector<render::NamedMarks> marks;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i].marks.empty()) continue;
    const std::string name = pivot_.columns.size() > 1 ? values_in(section_.columns[i].header) : "";
    const auto same = std::ranges::find(marks, name, &render::NamedMarks::name);
    if (same != marks.end()) {
      same->marks += row[i].marks;
    } else {
      marks.push_back({name, row[i].marks});
    }
  }
  return render::marks_cell(marks);
}

/// Adds a last column with marks if any cell has marks.
void Section::add_marks() {
  const auto has_marks = [](const std::vector<StudyCell>& row) {
    return std::ranges::any_of(row, [](const StudyCell& cell) { return !cell.marks.empty(); });
  };
  if (table_.is_without_times || std::ranges::none_of(section_.rows, has_marks)) return;
  for (auto& row : section_.rows) {
    std::string marks = marks_of(row);
    row.resize(section_.columns.size());
    row.push_back({.text = std::move(marks)});
  }
  section_.columns.push_back({render::kMarksHeader, render::Align::kLeft});
}

/// Returns whether a cell has the mark.
bool has_mark(const StudySection& section, char mark) {
  return std::ranges::any_of(section.rows, [&](const std::vector<StudyCell>& row) {
    return std::ranges::any_of(row, [&](const StudyCell& cell) { return cell.marks.find(mark) != std::string::npos; });
  });
}

std::optional<StudySection> Section::build() {
  if (cases_.empty()) return std::nullopt;
  const auto has_base = [this](const Texts& combination) { return columns_.base_of(combination).has_value(); };
  if (table_.needs_base && std::ranges::none_of(pivot_.columns, has_base)) return std::nullopt;
  const auto is_traced = [this](const CaseId& id) {
    return std::ranges::any_of(cells_.records(id), [](const Record* record) { return record->trace.has_value(); });
  };
  if (table_.needs_trace && std::ranges::none_of(cases_, is_traced)) return std::nullopt;
  section_.columns = columns_.headers();
  for (const Row& row : pivot_.rows) add_rows(row);
  add_marks();
  section_.caption = caption_of(cases_.front(), pivot_.common, table_.caption);
  if (has_mark(section_, 'd'))
    section_.caption += ". Comparisons marked d divide the GPU's own times, which are not shown";
  section_.has_bars = table_.has_bars;
  section_.is_unmeasured = are_unmeasured(cases_, cells_);
  section_.keys = keys_of(cases_.front(), pivot_);
  section_.may_have_marks = !table_.is_without_times;
  return std::move(section_);
}

}  // namespace

std::optional<StudySection> study_section(const StudyTable& table, CaseCells& cells) {
  return Section{table, cells}.build();
}

}  // namespace tbench::studies
