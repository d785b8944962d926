// Fills the cells of one case in a study's tables (CaseCells of study_section.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "studies/engine/studies.hpp"
#include "studies/engine/study_section.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::studies {

namespace {

using Texts = std::vector<std::string>;

}  // namespace

const std::vector<const Record*>& CaseCells::records(const CaseId& id) const {
  static const std::vector<const Record*> none;
  const auto found = cells_.measured.find(id.name());
  return found == cells_.measured.end() ? none : found->second;
}

std::vector<const Record*> CaseCells::timed(const CaseId& id) const {
  std::vector<const Record*> found;
  std::ranges::copy_if(records(id), std::back_inserter(found),
                       [](const Record* record) { return record->timing.has_value(); });
  return found;
}

bool CaseCells::keeps_protocol(const Record& record) const {
  if (!record.timing) return true;
  const auto same = [](const std::optional<std::int64_t>& wanted, std::int64_t actual) {
    return !wanted || *wanted == actual;
  };
  return same(study_.protocol.warm_up, record.timing->warm_up.steps) &&
         same(study_.protocol.samples, static_cast<std::int64_t>(record.timing->samples_s.size()));
}

/// Returns the median over the case's records, or the result of StudyColumn::of_case if the column has it.
std::optional<double> CaseCells::value(const CaseId& id, const StudyColumn& column) const {
  if (column.of_case) {
    const std::vector<const Record*> own = timed(id);
    return own.empty() ? std::nullopt : column.of_case({.records = own, .all = measurements_});
  }
  return column.value ? median_of(records(id), column.value) : std::nullopt;
}

std::optional<double> CaseCells::device(const CaseId& id, const StudyColumn& column) const {
  return column.device ? median_of(records(id), column.device) : std::nullopt;
}

bool CaseCells::is_host_bound(const CaseId& id) const {
  return std::ranges::any_of(timed(id), [](const Record* of) { return of->device && tbench::is_host_bound(*of); });
}

bool CaseCells::share_gpus(const CaseId& one, const CaseId& other) const {
  const auto gpus_of = [this](const CaseId& id) {
    std::set<std::string> gpus;
    for (const Record* record : timed(id)) gpus.insert(cells_.gpus.at(record));
    return gpus;
  };
  return gpus_of(one) == gpus_of(other);
}

std::string CaseCells::optimizer(const CaseId& id) const {
  const std::vector<const Record*> found = timed(id);
  return found.empty() || !found.front()->work ? "" : found.front()->work->optimizer;
}

/// Returns the median in the column's format, or all different texts of the records for a column of texts.
std::string CaseCells::shown(const CaseId& id, const StudyColumn& column) const {
  if (!column.text) {
    const std::optional<double> known = value(id, column);
    return known ? column.format(*known) : "";
  }
  Texts texts;
  for (const Record* record : records(id)) {
    const std::optional<std::string> known = column.text(*record);
    if (!known) continue;
    std::string text = render::one_line(*known);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return join(texts, " / ");
}

StudyCell CaseCells::cell(const CaseId& id, const StudyColumn& column, bool is_first) {
  const std::vector<const Record*>& found = records(id);
  if (found.empty()) {
    if (!is_first) return {};
    const auto footnote = missing_.filter_of.find(id.name());
    return {.text = {}, .footnote = footnote == missing_.filter_of.end() ? 0 : footnote->second + 1};
  }
  note(found);
  const auto failed =
      static_cast<std::size_t>(std::ranges::count_if(found, [](const Record* r) { return !r->timing; }));
  std::string text = shown(id, column);
  const std::optional<double> number = column.text ? std::nullopt : value(id, column);
  if (!is_first) return {.text = text, .value = number};
  if (failed == found.size()) {
    const std::string name = render::status_text(found.front()->status);
    return {.text = text.empty() ? name : fmt::format("{} ({})", name, text)};
  }
  if (text.empty() && failed == 0) return {};  // marks need a text or a number of failures
  const std::string marks = render::marks_of(found);
  const bool other = std::ranges::any_of(found, [&](const Record* r) { return !keeps_protocol(*r); });
  marks_.other_protocol = marks_.other_protocol || other;
  if (failed > 0) text += fmt::format(" ({} of {} failed)", failed, found.size());
  return {.text = text, .value = number, .marks = marks + (other ? "+" : "")};
}

}  // namespace tbench::studies
