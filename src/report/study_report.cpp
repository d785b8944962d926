#include "tbench/report/study_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <utility>

#include "missing_cells.hpp"
#include "study_cells.hpp"
#include "tbench/core/statistics.hpp"
#include "tbench/core/text.hpp"
#include "tbench/report/number_format.hpp"
#include "tbench/report/report_page.hpp"

namespace tbench::report {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kLeastFitted = 3;  // two points are on a line whatever the law

std::string value_of(const CaseId& id, const std::string& key) {
  for (const auto& [candidate, value] : id.parameters()) {
    if (candidate == key) return value;
  }
  return {};
}

Texts values_of(const CaseId& id, const Texts& keys) {
  Texts values;
  for (const std::string& key : keys) values.push_back(value_of(id, key));
  return values;
}

template <class T>
void append_new(std::vector<T>& all, const T& one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

bool holds(const Texts& texts, const std::string& text) { return std::ranges::find(texts, text) != texts.end(); }

std::string joined(const std::string& one, const std::string& other) {
  return one + (one.empty() || other.empty() ? "" : " ") + other;
}

/// `forward` of `forward ms`; nothing of `ms`.
std::string without_unit(const std::string& header) {
  const std::size_t space = header.rfind(' ');
  return space == std::string::npos ? "" : header.substr(0, space);
}

/// A quantity against its base, as StudySpeedUp says; empty where either is unknown.
std::string held_against(const std::optional<double>& base, const std::optional<double>& own, bool as_change) {
  if (!base || !own) return {};
  if (as_change) return *base > 0 ? fmt::format("{:+.1f}", 100 * (*own - *base) / *base) : "";
  return *own > 0 ? fmt::format("{:.3f}", *base / *own) : "";
}

/// What marks the tables use.
struct Marks {
  bool unsure{};          // *
  bool other_protocol{};  // +
  std::size_t most_records{};
};

/// What is said of one case, by column.
class Cells {
 public:
  Cells(const Study& study, const StudyCells& cells, const MissingCells& missing)
      : study_{study}, cells_{cells}, missing_{missing} {}

  [[nodiscard]] std::optional<double> value(const CaseId& id, const StudyColumn& column) const;
  [[nodiscard]] std::string shown(const CaseId& id, const StudyColumn& column) const;
  [[nodiscard]] StudyCell cell(const CaseId& id, const StudyColumn& column, bool is_first);
  [[nodiscard]] const StudyCells& all() const { return cells_; }
  [[nodiscard]] const Marks& marks() const { return marks_; }

 private:
  [[nodiscard]] const std::vector<const Record*>& records(const CaseId& id) const;
  [[nodiscard]] bool keeps_protocol(const Record& record) const;

  const Study& study_;
  const StudyCells& cells_;
  const MissingCells& missing_;
  Marks marks_;
};

const std::vector<const Record*>& Cells::records(const CaseId& id) const {
  static const std::vector<const Record*> none;
  const auto found = cells_.measured.find(id.name());
  return found == cells_.measured.end() ? none : found->second;
}

bool Cells::keeps_protocol(const Record& record) const {
  if (!record.timing) return true;
  const auto same = [](const std::optional<std::int64_t>& wanted, std::int64_t actual) {
    return !wanted || *wanted == actual;
  };
  return same(study_.protocol.warm_up, record.timing->warm_up.steps) &&
         same(study_.protocol.samples, static_cast<std::int64_t>(record.timing->samples_s.size()));
}

/// The median over the case's records.
std::optional<double> Cells::value(const CaseId& id, const StudyColumn& column) const {
  std::vector<double> values;
  if (!column.value) return std::nullopt;
  for (const Record* record : records(id)) {
    if (const std::optional<double> known = column.value(*record)) values.push_back(*known);
  }
  return values.empty() ? std::nullopt : std::optional{median(values)};
}

/// The median as its column writes it, or every text that there is.
std::string Cells::shown(const CaseId& id, const StudyColumn& column) const {
  if (!column.text) {
    const std::optional<double> known = value(id, column);
    return known ? column.format(*known) : "";
  }
  Texts texts;
  for (const Record* record : records(id)) {
    if (const std::optional<std::string> known = column.text(*record)) append_new(texts, one_line(*known));
  }
  return join(texts, " / ");
}

StudyCell Cells::cell(const CaseId& id, const StudyColumn& column, bool is_first) {
  const std::vector<const Record*>& found = records(id);
  if (found.empty()) {
    if (!is_first) return {};
    const auto footnote = missing_.filter_of.find(id.name());
    return {.text = {}, .footnote = footnote == missing_.filter_of.end() ? 0 : footnote->second + 1};
  }
  marks_.most_records = std::max(marks_.most_records, found.size());
  const auto failed =
      static_cast<std::size_t>(std::ranges::count_if(found, [](const Record* r) { return !r->timing; }));
  std::string text = shown(id, column);
  if (!is_first) return {.text = text, .footnote = 0};
  if (failed == found.size()) {
    const Status status = found.front()->status;
    const std::string name = status == Status::kOom ? "OOM" : std::string{to_string(status)};
    return {.text = text.empty() ? name : fmt::format("{} ({})", name, text), .footnote = 0};
  }
  const bool unsure = std::ranges::any_of(found, [](const Record* r) { return r->timing && r->status != Status::kOk; });
  const bool other = std::ranges::any_of(found, [&](const Record* r) { return !keeps_protocol(*r); });
  marks_.unsure = marks_.unsure || unsure;
  marks_.other_protocol = marks_.other_protocol || other;
  text += fmt::format("{}{}", unsure ? "*" : "", other ? "+" : "");
  if (failed > 0) text += fmt::format(" ({} of {} failed)", failed, found.size());
  return {.text = text, .footnote = 0};
}

/// One table of a study: which keys make its rows, which combinations of the spread keys its columns.
class Section {
 public:
  Section(const StudyTable& table, Cells& cells);
  /// Nothing for a table without cases.
  [[nodiscard]] std::optional<StudySection> build();

 private:
  using Rows = std::vector<std::pair<Texts, std::vector<std::optional<CaseId>>>>;  // a case a combination

  void collect();
  [[nodiscard]] bool has(const Texts& combination, const StudyColumn& column) const;
  [[nodiscard]] std::string header_of(const Texts& combination, const StudyColumn& column) const;
  [[nodiscard]] std::optional<std::size_t> base_of(const Texts& combination) const;
  void add_columns();
  void add_rows(const Texts& values, const std::vector<std::optional<CaseId>>& cases);
  [[nodiscard]] std::vector<StudyCell> row_of(const Texts& values, const std::vector<std::optional<CaseId>>& cases);
  void add_speed_ups(std::vector<StudyCell>& row, const std::vector<std::optional<CaseId>>& cases) const;
  void add_fit(std::vector<StudyCell>& row, const std::vector<std::optional<CaseId>>& cases) const;

  const StudyTable& table_;
  Cells& cells_;
  std::vector<CaseId> cases_;
  Texts common_;
  Texts row_keys_;
  std::vector<Texts> combinations_;
  Rows rows_;
  StudySection section_;
};

Section::Section(const StudyTable& table, Cells& cells) : table_{table}, cells_{cells} {
  std::ranges::copy_if(cells.all().cases, std::back_inserter(cases_), [&](const CaseId& id) {
    return std::ranges::all_of(table.only, [&](const auto& one) { return value_of(id, one.first) == one.second; });
  });
  collect();
}

void Section::collect() {
  Texts keys;
  for (const CaseId& id : cases_) {
    for (const auto& [key, value] : id.parameters()) append_new(keys, key);
  }
  for (const std::string& key : keys) {
    if (holds(table_.spread, key)) continue;
    Texts values;
    for (const CaseId& id : cases_) append_new(values, value_of(id, key));
    (values.size() == 1 ? common_ : row_keys_).push_back(key);
  }
  for (const CaseId& id : cases_) append_new(combinations_, values_of(id, table_.spread));
  for (const CaseId& id : cases_) {
    const Texts row = values_of(id, row_keys_);
    auto found = std::ranges::find(rows_, row, &Rows::value_type::first);
    if (found == rows_.end()) {
      rows_.emplace_back(row, std::vector<std::optional<CaseId>>(combinations_.size()));
      found = std::prev(rows_.end());
    }
    const auto column = std::ranges::find(combinations_, values_of(id, table_.spread)) - combinations_.begin();
    found->second[static_cast<std::size_t>(column)] = id;
  }
}

/// Whether the cases of a combination have the column's quantity.
bool Section::has(const Texts& combination, const StudyColumn& column) const {
  if (!column.only_of) return true;
  for (std::size_t i = 0; i < combination.size(); ++i) {
    if (table_.spread[i] == column.only_of->first) return combination[i] == column.only_of->second;
  }
  return false;
}

/// The combination's values, without the one that the column's own header tells.
std::string Section::header_of(const Texts& combination, const StudyColumn& column) const {
  Texts parts;
  for (std::size_t i = 0; i < combination.size(); ++i) {
    if (column.only_of && table_.spread[i] == column.only_of->first) continue;
    parts.push_back(table_.spread[i] + ":" + combination[i]);
  }
  return join(parts, " ");
}

/// Index of the combination that this one's speed-up is over; nothing for the base itself and where it is not there.
std::optional<std::size_t> Section::base_of(const Texts& combination) const {
  Texts base = combination;
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (table_.spread[i] == table_.speed_up->key) base[i] = table_.speed_up->base;
  }
  const auto found = std::ranges::find(combinations_, base);
  if (base == combination || found == combinations_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - combinations_.begin());
}

void Section::add_columns() {
  for (const std::string& key : row_keys_) section_.columns.push_back({key, Align::kLeft});
  if (table_.quantities_down) {
    section_.columns.push_back({"quantity", Align::kLeft});
    for (const Texts& combination : combinations_)
      section_.columns.push_back({header_of(combination, {}), Align::kRight});
    return;
  }
  for (const Texts& combination : combinations_) {
    for (const StudyColumn& column : table_.columns) {
      if (!has(combination, column)) continue;
      const std::string values = header_of(combination, column);
      const bool needs_quantity = values.empty() || table_.columns.size() > 1;
      section_.columns.push_back({joined(values, needs_quantity ? column.header : ""), Align::kRight});
    }
  }
  for (const Texts& combination : combinations_) {
    if (!table_.speed_up || !base_of(combination)) continue;
    for (const StudyColumn& column : table_.columns) {
      if (!has(combination, column)) continue;
      const std::string what = joined(header_of(combination, column), without_unit(column.header));
      section_.columns.push_back({joined(what, table_.speed_up->as_change ? "change %" : "speed-up"), Align::kRight});
    }
  }
  if (!table_.fit) return;
  section_.columns.push_back({"exponent of " + table_.fit->of, Align::kRight});
  section_.columns.push_back({"r²", Align::kRight});
}

void Section::add_speed_ups(std::vector<StudyCell>& row, const std::vector<std::optional<CaseId>>& cases) const {
  for (std::size_t i = 0; i < combinations_.size(); ++i) {
    const std::optional<std::size_t> base = base_of(combinations_[i]);
    if (!base) continue;
    for (const StudyColumn& column : table_.columns) {
      if (!has(combinations_[i], column)) continue;
      const auto at = [&](std::size_t index) {
        return cases[index] ? cells_.value(*cases[index], column) : std::nullopt;
      };
      row.push_back({.text = held_against(at(*base), at(i), table_.speed_up->as_change), .footnote = 0});
    }
  }
}

void Section::add_fit(std::vector<StudyCell>& row, const std::vector<std::optional<CaseId>>& cases) const {
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::optional<double> time = cases[i] ? cells_.value(*cases[i], table_.columns.front()) : std::nullopt;
    if (!time) continue;
    x.push_back(table_.fit->x(combinations_[i].front(), cells_.all().sizes));
    y.push_back(*time);
  }
  const auto law = x.size() < kLeastFitted ? std::nullopt : power_law_fit(x, y);
  row.push_back({.text = law ? fmt::format("{:.3f}", law->exponent) : "", .footnote = 0});
  row.push_back({.text = law ? fmt::format("{:.4f}", law->r_squared) : "", .footnote = 0});
}

std::vector<StudyCell> Section::row_of(const Texts& values, const std::vector<std::optional<CaseId>>& cases) {
  std::vector<StudyCell> row;
  for (const std::string& value : values) row.push_back({.text = one_line(value), .footnote = 0});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    bool is_first = true;
    for (const StudyColumn& column : table_.columns) {
      if (!has(combinations_[i], column)) continue;
      row.push_back(cases[i] ? cells_.cell(*cases[i], column, is_first) : StudyCell{});
      is_first = false;
    }
  }
  if (table_.speed_up) add_speed_ups(row, cases);
  if (table_.fit) add_fit(row, cases);
  return row;
}

void Section::add_rows(const Texts& values, const std::vector<std::optional<CaseId>>& cases) {
  if (!table_.quantities_down) {
    section_.rows.push_back(row_of(values, cases));
    return;
  }
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    std::vector<StudyCell> row;
    for (const std::string& value : values) row.push_back({.text = one_line(value), .footnote = 0});
    row.push_back({.text = table_.columns[i].header, .footnote = 0});
    for (const std::optional<CaseId>& id : cases) {
      row.push_back(id ? cells_.cell(*id, table_.columns[i], i == 0) : StudyCell{});
    }
    section_.rows.push_back(std::move(row));
  }
}

std::optional<StudySection> Section::build() {
  if (cases_.empty()) return std::nullopt;
  add_columns();
  for (const auto& [values, cases] : rows_) add_rows(values, cases);
  const CaseId& first = cases_.front();
  Texts parts{first.family()};
  for (const std::string& key : common_) parts.push_back(key + ":" + one_line(value_of(first, key)));
  section_.caption = fmt::format("{}. {}", join(parts, " "), table_.caption);
  return std::move(section_);
}

/// `text` as one word of a shell's command line.
std::string quoted(const std::string& text) {
  std::string word{"'"};
  for (const char letter : text) word += letter == '\'' ? std::string{"'\\''"} : std::string{letter};
  return word + "'";
}

std::string protocol_of(const StudyProtocol& protocol) {
  Texts parts;
  if (protocol.warm_up) parts.push_back(fmt::format("{} warm-up steps", *protocol.warm_up));
  if (protocol.samples) parts.push_back(fmt::format("{} timed steps", *protocol.samples));
  return join(parts, ", ");
}

Texts notes_of(const Study& study, const Marks& marks) {
  Texts notes;
  if (marks.most_records > 1) {
    notes.push_back(fmt::format("Several measurements of a case: their median (at most {}).", marks.most_records));
  }
  if (marks.unsure) notes.emplace_back("* unstable or throttled: the reason is in the file.");
  if (marks.other_protocol) {
    notes.push_back(fmt::format("+ not the study's protocol of {}.", protocol_of(study.protocol)));
  }
  return notes;
}

}  // namespace

StudyReport study_report(const Study& study, std::span<const NamedResults> results, const StudyOptions& options) {
  const StudyCells cells = study_cells(study, results, options);
  const MissingCells missing = missing_cells(cells.cases, cells.missing);
  StudyReport report;
  report.title = fmt::format("{}: {}", study.name, study.title);
  for (const NamedResults& result : results) {
    report.sources.push_back(fmt::format("{}: {}", one_line(result.label), environment_line(result.file)));
  }
  Cells contents{study, cells, missing};
  for (const StudyTable& table : study.tables) {
    if (auto section = Section{table, contents}.build()) report.sections.push_back(std::move(*section));
  }
  report.notes = notes_of(study, contents.marks());
  for (std::size_t i = 0; i < missing.filters.size(); ++i) {
    const std::string& filter = missing.filters[i];
    const std::string selected = filter.empty() ? "" : " --benchmark_filter=" + quoted(filter);
    report.commands.push_back(one_line(
        fmt::format("transformer_bench {}{} --benchmark_out={}_{}.json", cells.flags, selected, study.name, i + 1)));
  }
  return report;
}

}  // namespace tbench::report
