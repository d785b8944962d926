// Fills one table of a study with measurements: the text of each cell, the marks that need a note, and tables with
// several rows per case.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "studies/engine/study_cells.hpp"
#include "tbench/render/pivot.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

/// Facts about the cells of the tables that need a note.
struct Marks {
  bool other_protocol{};  // +
  std::size_t max_records{};
};

/// The cells of one case, by column.
class CaseCells {
 public:
  CaseCells(const Study& study, const StudyCells& cells, const MissingCells& missing)
      : study_{study},
        cells_{cells},
        missing_{missing},
        measurements_{.cases = cells.unfiltered,
                      .records_of = [this](const CaseId& id) { return std::span<const Record* const>{records(id)}; },
                      .sizes = cells.sizes} {}
  // `measurements_` refers to this.
  CaseCells(const CaseCells&) = delete;
  CaseCells& operator=(const CaseCells&) = delete;
  ~CaseCells() = default;

  [[nodiscard]] std::optional<double> value(const CaseId& id, const StudyColumn& column) const;
  [[nodiscard]] std::string shown(const CaseId& id, const StudyColumn& column) const;
  [[nodiscard]] StudyCell cell(const CaseId& id, const StudyColumn& column, bool is_first);
  /// Returns all records of a case, which are none if it was not measured.
  [[nodiscard]] const std::vector<const Record*>& records(const CaseId& id) const;
  /// Returns the records that have a time.
  [[nodiscard]] std::vector<const Record*> timed(const CaseId& id) const;
  /// Returns the GPU's own part of a time (StudyColumn::device).
  [[nodiscard]] std::optional<double> device(const CaseId& id, const StudyColumn& column) const;
  /// Returns whether the host limits one of the case's times on a GPU.
  [[nodiscard]] bool is_host_bound(const CaseId& id) const;
  /// Returns whether the times of both cases were measured on the same GPUs.
  [[nodiscard]] bool share_gpus(const CaseId& one, const CaseId& other) const;
  /// Returns Work::optimizer, or an empty text if there is none or the records do not name it.
  [[nodiscard]] std::string optimizer(const CaseId& id) const;
  /// Returns the study's measurements, which are valid as long as this object.
  [[nodiscard]] const StudyMeasurements& measurements() const { return measurements_; }
  /// Records the number of records in a cell, for the note on medians.
  void note(const std::vector<const Record*>& records) {
    marks_.max_records = std::max(marks_.max_records, records.size());
  }
  [[nodiscard]] const StudyCells& all() const { return cells_; }
  [[nodiscard]] const Marks& marks() const { return marks_; }

 private:
  [[nodiscard]] bool keeps_protocol(const Record& record) const;

  const Study& study_;
  const StudyCells& cells_;
  const MissingCells& missing_;
  const StudyMeasurements measurements_;
  Marks marks_;
};

/// Returns the cases that a table with these `only` and `family` has.
[[nodiscard]] std::vector<CaseId> cases_of(const StudyCells& cells, std::span<const CaseId::Parameter> only,
                                           const std::string& family);

/// Returns the cell for the value of a key. A value of `bytes` has a readable text, such as `1 KiB`, and the number.
[[nodiscard]] StudyCell key_cell(const std::string& key, const std::string& value);

/// Returns the keys of the cases that a pivot arranges, without those that are spread over columns.
[[nodiscard]] std::vector<StudyKey> keys_of(const CaseId& id, const render::Pivot& pivot);

/// Returns whether no file has a record of any of the cases.
[[nodiscard]] bool are_unmeasured(std::span<const CaseId> cases, const CaseCells& cells);

/// Returns the caption of a section: the family and the values that all its cases share, followed by `caption`.
/// @param common  the keys whose values are shared
[[nodiscard]] std::string caption_of(const CaseId& id, const std::vector<std::string>& common,
                                     const std::string& caption);

/// Returns nullopt for a table without cases.
[[nodiscard]] std::optional<StudySection> study_section(const StudyTable& table, CaseCells& cells);

/// Returns nullopt for a study without cases.
[[nodiscard]] std::optional<StudySection> row_section(const StudyRowTable& table, CaseCells& cells);

}  // namespace tbench::studies
