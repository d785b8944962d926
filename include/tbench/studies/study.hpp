// The tables of the course's write-ups: the cases of each, how they are measured, and what its table shows. Both
// `transformer_bench --tb_study` and `tbench report --study` use these definitions. Each study is one function in a
// file of src/studies/, which registers it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
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
  /// Returns a text instead of a number, or nullopt if the record does not have it. Replaces `value` and `format`.
  std::function<std::optional<std::string>(const Record&)> text{};
  /// Restricts the quantity to cases with one value of a key that is spread over columns, such as {"pass", "forward"}.
  /// The header then names what the value means. If absent, all cases have the quantity.
  std::optional<CaseId::Parameter> only_of{};
  /// Replaces `value` for a quantity that depends on the records of other cases too. Returns nullopt if they do not
  /// give it. It is only called for cases with a time.
  std::function<std::optional<double>(const StudyCase&)> of_case{};
  /// Returns the GPU's own part of a time, in the same unit. A speed-up divides these parts if the host limits a side,
  /// or if the sides were measured on two GPUs. If absent, it divides the values.
  std::function<std::optional<double>(const Record&)> device{};
};

/// The comparison of a quantity with its base.
enum class StudyComparison {
  kSpeedUp,  // the base's value divided by the case's value; for times, above 1 is faster
  kChange,   // the case's value minus the base's value, in percent of the base's; for times, below 0 is faster
  kPoints    // the case's percentage minus the base's percentage, in percentage points
};

/// Adds a column for each quantity that compares the case with its base: the case with these values instead of its own.
/// Cases with different optimizers are not compared, unless the comparison is of implementations, which include the
/// optimizer.
struct StudySpeedUp {
  std::vector<CaseId::Parameter> base;  // keys that are spread over columns; an empty value means names without the key
  StudyComparison as{StudyComparison::kSpeedUp};
};

/// Adds columns with the exponent and the r^2 of a power law in x, fitted to the first quantity over the columns of a
/// row. If the host limits one of the cases, the fit takes the GPU's own times (StudyColumn::device) of all, or leaves
/// such cases out where one of these times is unknown.
struct StudyFit {
  std::string of;  // meaning of x, for the header: `ctx`, `parameters`
  /// Returns x for a value of the only spread key.
  std::function<double(const std::string& value, std::span<const ModelSize> sizes)> x;
};

/// A table with a row for every combination of the varying keys that are not spread over columns. It is not shown if a
/// filter leaves it no cases.
struct StudyTable {
  std::string caption;
  std::vector<std::string> spread;
  std::vector<StudyColumn> columns;  // the quantities of every case; at least one
  std::optional<StudySpeedUp> speed_up{};
  std::optional<StudyFit> fit{};
  /// Adds two columns about the only spread key: the last value at which a row's case fits into memory (with `>=` if no
  /// larger value was seen to fail), and the first value at which it does not fit.
  bool has_boundary{};
  std::vector<CaseId::Parameter> only{};  // only cases with all these parameters; if empty, all cases of the study
  bool needs_base{};                      // not shown without cases of the speed-up's base
  bool needs_trace{};                     // not shown unless a record has a trace, even if the study needs no traces
  bool quantities_down{};                 // a row for every quantity, a column for every combination of spread keys
  bool has_bars{};          // pages show a bar per column, grouped by the rows' first key, instead of lines
  std::string family{};     // only cases of this family; if empty, cases of all families
  bool is_without_times{};  // no cell is a time, so that none has the marks of times
  /// Groups the rows whose cases agree in all keys before this one. If empty, the rows keep the order of the study's
  /// grids.
  std::string together_before{};
};

/// The role of a row in its case's waterfall chart.
enum class StudyStep {
  kNone,   // not part of the chart
  kFloor,  // the time that the case needs at least; the bar begins where the previous one ended
  kLoss,   // the time beyond the floor, less than the floor if negative; the bar begins where the previous one ended
  kSum     // the sum of all rows before it; the bar begins at 0
};

/// One of several rows that a case has in a table, for example a kernel in a phase.
struct StudyRow {
  std::vector<std::string> names;             // one per StudyRowTable::names: they distinguish the case's rows
  std::vector<std::optional<double>> values;  // one per StudyRowTable::quantities, in the header's unit
  std::string detail;
  StudyStep step{StudyStep::kNone};  // the bar's length is the first of `values`
};

/// A quantity of a row, as a table shows it.
struct StudyQuantity {
  std::string header;  // includes the unit
  std::function<std::string(double)> format;
};

/// All measurements of a study in the files.
struct StudyMeasurements {
  std::span<const CaseId> cases;  // all cases of the study in its order, including cases that a filter hides
  /// Returns the records of a case of the study or of Study::beside, including failed records. The result is empty if
  /// the case was not measured.
  std::function<std::span<const Record* const>(const CaseId&)> records_of;
  std::span<const ModelSize> sizes;  // the built-in ones and the user's
};

/// A case with its own records, and all measurements of the study.
struct StudyCase {
  std::span<const Record* const> records;  // the case's records without the failed ones; at least one
  const StudyMeasurements& all;
  // The conversion is implicit, so that `rows_of` can be a function of the records alone.
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator std::span<const Record* const>() const { return records; }
};

/// A table with several rows per case, as returned by `rows_of`. A case without a record has one row that says how to
/// measure it. A failed case has one row with its status. A case for which `rows_of` is empty has one row that says so.
struct StudyRowTable {
  std::string caption;
  std::vector<std::string> names;         // headers of the names that distinguish a case's rows
  std::vector<StudyQuantity> quantities;  // at least one
  std::string detail;                     // header of a long text after the quantities; empty if there is none
  std::function<std::vector<StudyRow>(const StudyCase&)> rows_of;
  std::vector<CaseId::Parameter> only{};  // as StudyTable::only
  std::string family{};
  bool has_kernels{};    // the details are names of kernels, which the table shows in short
  bool has_no_charts{};  // rows with the same name are different things, such as the kernels at one rank
  /// The largest number of a case's rows with the same first name that the table shows. It shows the first ones.
  /// `{top}` in the caption stands for the number. 0 shows all rows.
  std::size_t top{};
  bool needs_rows{};  // not shown if `rows_of` is empty for all cases
};

/// A protocol with exact counts; the sampler chooses absent counts.
struct StudyProtocol {
  std::optional<std::int64_t> warm_up{};  // steps
  std::optional<std::int64_t> samples{};  // steps; none is dropped
  bool needs_trace{};      // --tb_trace=on; a record with a time and without a trace does not count as measured
  bool verify_once{};      // --tb_verify=once
  bool without_trace{};    // no table uses a trace, and it takes longer than the samples
  bool needs_timelines{};  // the records have StepTrace::timeline and MemoryUse::timeline
  bool operator==(const StudyProtocol&) const = default;
};

/// The course of one layer, and a readable form of each of its names.
struct LayerFigure {
  StepTimeline timeline;
  std::vector<std::string> shown;  // one per StepTimeline::names
};

/// A figure below a study's tables. Pages draw it.
struct StudyFigure {
  std::string title;
  std::variant<LayerFigure, MemoryTimeline> data;
};

struct Study {
  std::string name;   // name for --tb_study and --study
  std::string title;  // one line
  /// The run decides the values of an axis without values, such as `gpus`: see with_open_axes().
  std::vector<FamilyGrid> grids;
  StudyProtocol protocol{};
  std::vector<StudyTable> tables{};
  std::vector<StudyRowTable> row_tables{};  // shown after `tables`; a study has at least one table of either kind
  /// Values of the grids that not every program has, for example an implementation. A run leaves out the values that
  /// its program does not know. A table leaves out the values that none of its files has.
  std::vector<AxisOverride> if_known{};
  /// Cases of other families that tables use if a file has them. A run of this study on a GPU measures the ceilings
  /// among them, and no others.
  std::vector<CaseId> beside{};
  /// Sentences below the tables. May be empty.
  std::function<std::vector<std::string>(const StudyMeasurements&)> conclude{};
  /// The grids of a run without a GPU. If empty, `grids` applies.
  std::vector<FamilyGrid> grids_on_cpu{};
  /// Families whose axis `impl` also has the user's plug-ins (--tb_plugin).
  std::vector<std::string> open_to_plugins{};
  /// Sentences above the tables, which a run prints at its end. May be empty.
  std::function<std::vector<std::string>(const StudyMeasurements&)> answer{};
  /// Figures below the tables. May be empty.
  std::function<std::vector<StudyFigure>(const StudyMeasurements&)> figures{};
  /// The value of --tb_study that measures the cases. If empty, it is the study's name.
  std::string measured_by{};
};

[[nodiscard]] std::span<const Study> all_studies();
[[nodiscard]] std::vector<std::string> study_names();

/// Returns the study with the given name.
/// @param flag  the flag that gave the name, for the error
/// @throws      UsageError  for an unknown name, with the nearest name and all names
[[nodiscard]] const Study& find_study(std::string_view name, std::string_view flag);

/// Returns the study without the `if_known` values for which `is_known` is false.
[[nodiscard]] Study with_known_values(
    Study study, const std::function<bool(const std::string& family, const CaseId::Parameter& value)>& is_known);

/// Returns the study with the result of `values_of` in each axis that has no values.
[[nodiscard]] Study with_open_axes(
    Study study,
    const std::function<std::vector<std::string>(const std::string& family, const std::string& key)>& values_of);

/// Returns the study with its grids for a run with or without a GPU.
[[nodiscard]] Study for_device(Study study, bool has_gpu);

/// Returns the study with the plug-ins of each family in `open_to_plugins` after the values of its axis `impl`.
[[nodiscard]] Study with_plugins(Study study,
                                 const std::function<std::vector<std::string>(const std::string& family)>& plugins_of);

/// Returns the study with only those values of its axes that `kept` has. An axis that `kept` does not name keeps all of
/// its values. A grid without any value of an axis is left out.
/// @throws  std::invalid_argument  if no grid is left
[[nodiscard]] Study restricted(Study study, std::span<const AxisOverride> kept);

/// Returns the study's grids, with the user's sizes as additional values of every `size` axis.
[[nodiscard]] std::vector<FamilyGrid> grids_with_sizes(const Study& study, std::span<const ModelSize> extra_sizes);

}  // namespace tbench::studies
