// One table of a study filled with what was measured: what each cell says, the marks that need a note, and tables with
// several rows per case.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "studies/engine/study_cells.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

/// The marks that the tables use.
struct Marks {
  std::string of_times;   // as render::marks_of
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
  /// Empty for a case that nobody measured.
  [[nodiscard]] const std::vector<const Record*>& records(const CaseId& id) const;
  /// Returns the records that have a time.
  [[nodiscard]] std::vector<const Record*> timed(const CaseId& id) const;
  /// A time's part on the GPU: StudyColumn::device.
  [[nodiscard]] std::optional<double> device(const CaseId& id, const StudyColumn& column) const;
  /// The host limits one of its times, on a GPU.
  [[nodiscard]] bool is_host_bound(const CaseId& id) const;
  /// Whether the times of both were measured on the same GPUs.
  [[nodiscard]] bool share_gpus(const CaseId& one, const CaseId& other) const;
  /// Work::optimizer; empty without one, or where it is not told.
  [[nodiscard]] std::string optimizer(const CaseId& id) const;
  /// Notes that a table uses these marks.
  void use(const std::string& marks) { marks_.of_times += marks; }
  /// Valid for as long as this object.
  [[nodiscard]] const StudyMeasurements& measurements() const { return measurements_; }
  /// Counts how many records a cell is made of, for the note on medians.
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

/// The cases of a table with these `only` and `family`.
[[nodiscard]] std::vector<CaseId> cases_of(const StudyCells& cells, std::span<const CaseId::Parameter> only,
                                           const std::string& family);

/// The value of a key of a case's name. The value of `bytes` is written as people say it, `1 KiB`, and as a number.
[[nodiscard]] StudyCell key_cell(const std::string& key, const std::string& value);

/// The values that all cases of a section share, and the quantities shown.
/// @param common  keys of `id`
[[nodiscard]] std::string caption_of(const CaseId& id, const std::vector<std::string>& common,
                                     const std::string& caption);

/// Returns nullopt for a table without cases.
[[nodiscard]] std::optional<StudySection> study_section(const StudyTable& table, CaseCells& cells);

/// Returns nullopt for a study without cases.
[[nodiscard]] std::optional<StudySection> row_section(const StudyRowTable& table, CaseCells& cells);

}  // namespace tbench::studies
