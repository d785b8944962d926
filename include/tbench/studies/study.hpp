// The tables of the course's write-ups: which cases each has, how they are measured and what its table shows. Both
// `transformer_bench --tb_study` and `tbench report --study` take them from here. A study is one function
// in a file of src/studies/, which registers it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case_table.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/record.hpp"

namespace tbench::studies {

struct StudyCase;

/// A quantity of a case, as a table shows it.
struct StudyColumn {
  std::string header;  // includes the unit
  /// Returns the value in the header's unit, or no value if the record does not have it.
  std::function<std::optional<double>(const Record&)> value;
  std::function<std::string(double)> format;
  /// A value that is no number, in place of `value` and `format`; nothing where the record does not tell.
  std::function<std::optional<std::string>(const Record&)> text{};
  /// A key that is spread over columns and its value whose cases alone have the quantity: {"pass", "forward"}. The
  /// header then says what that value means. Absent: all cases have it.
  std::optional<CaseId::Parameter> only_of{};
  /// A value that stands in place of `value`, where the records of other cases have a part in it; nothing where they do
  /// not tell. It is asked for a case that has a time.
  std::function<std::optional<double>(const StudyCase&)> of_case{};
  /// The GPU's own part of a time, in the same unit: what a speed-up divides where the host limits a side, or the sides
  /// were measured on two GPUs. Absent: `value` it is.
  std::function<std::optional<double>(const Record&)> device{};
};

/// How a quantity is held against its base.
enum class StudyComparison {
  kSpeedUp,  // the base's over the case's; of times: above 1 is faster
  kChange,   // what the case's is more than the base's, in percent of the base's; of times: below 0 is faster
  kPoints    // what a percentage is more than the base's, in percentage points
};

/// A column for each quantity that holds the case against the one with these values in place of its own. Nothing is
/// held against a case of another optimizer, unless implementations are compared, whose part it is.
struct StudySpeedUp {
  std::vector<CaseId::Parameter> base;  // of keys that are spread over columns; an empty value: names without the key
  StudyComparison as{StudyComparison::kSpeedUp};
};

/// Columns with the exponent of the first quantity as a power of x, and the fit's r^2, over the columns of a row. Cases
/// that the host limits are left out.
struct StudyFit {
  std::string of;  // meaning of x, for the header: `ctx`, `parameters`
  /// x of the only key that is spread.
  std::function<double(const std::string& value, std::span<const ModelSize> sizes)> x;
};

/// A row for every combination of the varying keys that are not spread over columns. A table without cases (a filter
/// left it none) is not shown.
struct StudyTable {
  std::string caption;
  std::vector<std::string> spread;
  std::vector<StudyColumn> columns;  // of every case; at least one
  std::optional<StudySpeedUp> speed_up{};
  std::optional<StudyFit> fit{};
  /// Columns with the last value of the only spread key at which a row's case fits into memory (`>=` where no larger
  /// one was seen to fail), and the first at which it does not.
  bool has_boundary{};
  std::vector<CaseId::Parameter> only{};  // only cases with all these parameters; if empty, all cases of the study
  bool needs_base{};                      // not shown without cases of the speed-up's base
  bool needs_trace{};                     // not shown where no record has a trace; the study itself may need none
  bool quantities_down{};                 // a row for every quantity, a column for every combination of spread keys
  bool has_bars{};       // pages show a bar per column, grouped by the rows' first key, in place of lines
  std::string family{};  // only cases of this family; if empty, cases of all families
  /// Rows whose cases agree in all keys before this one stand together, where the study's grids do not have them so.
  /// Empty: in the grids' order.
  std::string together_before{};
};

/// The role of a row in its case's waterfall chart.
enum class StudyStep {
  kNone,   // not part of it
  kFloor,  // what the case cannot do without: from where the bar before it ended
  kLoss,   // what it takes beyond that, or less where negative: likewise
  kSum     // of all before it: from 0
};

/// One of several rows that a case has in a table: a kernel in a phase, say.
struct StudyRow {
  std::vector<std::string> names;             // one per StudyRowTable::names: they distinguish the case's rows
  std::vector<std::optional<double>> values;  // one per StudyRowTable::quantities, in the header's unit
  std::string detail;
  StudyStep step{StudyStep::kNone};  // its length is the first of `values`
};

/// A quantity of a row, as a table shows it.
struct StudyQuantity {
  std::string header;  // includes the unit
  std::function<std::string(double)> format;
};

/// All that the files have of a study.
struct StudyMeasurements {
  std::span<const CaseId> cases;  // of the study, in its order, whatever a filter shows of them
  /// Returns the records of a case of the study, or of Study::beside, with the failed ones; empty where it was not
  /// measured.
  std::function<std::span<const Record* const>(const CaseId&)> records_of;
  std::span<const ModelSize> sizes;  // the built-in ones and the user's
};

/// The records that a table gets for a case: its own ones, where these are enough.
struct StudyCase {
  std::span<const Record* const> records;  // those that did not fail, at least one
  const StudyMeasurements& all;
  // Implicit, so that rows made of the records alone are a function of these.
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator std::span<const Record* const>() const { return records; }
};

/// A table of what is inside a case: as many rows of each as `rows_of` finds. A case without a record has one row that
/// says how to measure it, one that failed a row with its status, one without any rows of its own a row that says so.
struct StudyRowTable {
  std::string caption;
  std::vector<std::string> names;         // headers of the names that distinguish a case's rows
  std::vector<StudyQuantity> quantities;  // at least one
  std::string detail;                     // header of a long text after the quantities; empty if there is none
  std::function<std::vector<StudyRow>(const StudyCase&)> rows_of;
  std::vector<CaseId::Parameter> only{};  // as StudyTable's
  std::string family{};
};

/// A protocol with exact counts; the sampler chooses absent counts.
struct StudyProtocol {
  std::optional<std::int64_t> warm_up{};  // steps
  std::optional<std::int64_t> samples{};  // steps, none dropped
  bool needs_trace{};  // --tb_trace=on; a record with a time and without a trace does not count as measured
};

struct Study {
  std::string name;   // name for --tb_study and --study
  std::string title;  // one line
  /// An axis without values is up to the run, as `gpus` is: see with_open_axes().
  std::vector<FamilyGrid> grids;
  StudyProtocol protocol{};
  std::vector<StudyTable> tables{};
  std::vector<StudyRowTable> row_tables{};  // shown behind `tables`; of either kind there is one at least
  /// Values of the grids that not every program has, an implementation say. A run leaves out what its program does not
  /// know, a table what none of its files holds.
  std::vector<AxisOverride> if_known{};
  /// Cases of other studies that tables look at where a file has them. No run of this study makes them.
  std::vector<CaseId> beside{};
  /// Sentences below the tables. May be empty.
  std::function<std::vector<std::string>(const StudyMeasurements&)> conclude{};
  /// The grids of a run without a GPU; if empty, `grids`.
  std::vector<FamilyGrid> grids_on_cpu{};
  /// Families whose axis `impl` the user's plug-ins join (--tb_plugin).
  std::vector<std::string> open_to_plugins{};
  /// Sentences above the tables, which a run prints at its end. May be empty.
  std::function<std::vector<std::string>(const StudyMeasurements&)> answer{};
};

[[nodiscard]] std::span<const Study> all_studies();
[[nodiscard]] std::vector<std::string> study_names();

/// @param flag  that gave the name, for the error
/// @throws      UsageError  for an unknown name, with the nearest one and all of them
[[nodiscard]] const Study& find_study(std::string_view name, std::string_view flag);

/// Returns the study without the `if_known` values that `is_known` denies.
[[nodiscard]] Study with_known_values(
    Study study, const std::function<bool(const std::string& family, const CaseId::Parameter& value)>& is_known);

/// The study with `values_of` of a family and a key in each axis that it leaves open.
[[nodiscard]] Study with_open_axes(
    Study study,
    const std::function<std::vector<std::string>(const std::string& family, const std::string& key)>& values_of);

/// The study with its grids for a run with or without a GPU.
[[nodiscard]] Study for_device(Study study, bool has_gpu);

/// The study with the plug-ins of a family, behind the values of the axis `impl`, where it is open to them.
[[nodiscard]] Study with_plugins(Study study,
                                 const std::function<std::vector<std::string>(const std::string& family)>& plugins_of);

/// The study's grids with the user's sizes as further values of every `size` axis.
[[nodiscard]] std::vector<FamilyGrid> grids_with_sizes(const Study& study, std::span<const ModelSize> extra_sizes);

}  // namespace tbench::studies
