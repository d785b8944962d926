// One table of a study filled with what was measured: what each cell says, and the marks that need a note.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "studies/engine/missing_cells.hpp"
#include "studies/engine/study_cells.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

/// What marks the tables use.
struct Marks {
  std::string of_times;   // as render::marks_of
  bool other_protocol{};  // +
  std::size_t max_records{};
};

/// What is said of one case, by column.
class CaseCells {
 public:
  CaseCells(const Study& study, const StudyCells& cells, const MissingCells& missing)
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

/// Nothing for a table without cases.
[[nodiscard]] std::optional<StudySection> study_section(const StudyTable& table, CaseCells& cells);

}  // namespace tbench::studies
