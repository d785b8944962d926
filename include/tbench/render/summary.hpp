// Sums up a record in quantities and table columns, for reports and for the benchmark's own output. That output has a
// row for each record as soon as it is measured, and a summary at the end.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"
#include "tbench/render/table.hpp"

namespace tbench::render {

/// A quantity of a case that a table can show.
enum class Metric { kMilliseconds, kTokens, kTflops, kMfu, kMemory, kBandwidth, kCeilingShare, kFloorShare };

/// Returns the names that `--show` takes: ms, tokens, tflops, mfu, memory, bandwidth, share and floor.
[[nodiscard]] std::span<const std::string> metric_names();
[[nodiscard]] std::optional<Metric> parse_metric(std::string_view name);
/// Returns the column header with the unit: `median ms`, `tokens/s`, `TFLOP/s`, `MFU %`, `peak GiB`, `TB/s`,
/// `% of ceiling`, `floor, % of time`.
[[nodiscard]] std::string metric_header(Metric metric);
/// Returns the value in the unit of the header, or nullopt if the record does not have it.
[[nodiscard]] std::optional<double> metric_value(const Record& record, Metric metric);
[[nodiscard]] std::string format_metric(double value, Metric metric);

/// Returns the columns: status, median ms, half width of the median's 95 % interval in %, tokens/s, TFLOP/s, MFU %,
/// peak GiB, n (number of samples).
[[nodiscard]] std::vector<Column> summary_columns();

/// Returns one cell per column. A case without a time has its status, and its reason instead of all numbers.
[[nodiscard]] std::vector<std::string> summary_cells(const Record& record);

/// Returns the text that stands for the number of a case without a time: `OOM`, or the status as it is.
[[nodiscard]] std::string status_text(Status status);

/// Returns the remarks on a record's time. They say why it is unstable or throttled, or that it is too short for the
/// timer, never was steady, has a wide interval, is limited by the host, disagrees with the trace, or is above its
/// ceiling. Empty for most times, and without a time.
[[nodiscard]] std::string note_of(const Record& record);

/// Returns the marks of a cell with these repetitions, each at most once: `*` for an unstable or throttled time, `~`
/// for a time that is not sharp, `h` for a time that the host limits. A time is not sharp if it is under 10 us, if its
/// interval is over 2 %, or if it was never steady in a warm-up whose length the user had not fixed.
[[nodiscard]] std::string marks_of(std::span<const Record* const> repetitions);
/// The header of the column in which a table has the marks of its times.
inline constexpr const char* kMarksHeader = "marks";
/// The marks of one time in a row.
struct NamedMarks {
  std::string name;  // name of the time among the row's times; empty if the row has only one
  std::string marks;
};
/// Returns a row's cell of marks, `tf32 ~h, bf16 h`. Leaves out times without a mark.
[[nodiscard]] std::string marks_cell(std::span<const NamedMarks> times);
/// Returns a table of these rows. If any row has marks, a last column has them.
/// @param rows   one cell per column
/// @param marks  one cell of marks per row
[[nodiscard]] Table table_with_marks(std::vector<Column> columns, std::vector<std::vector<Cell>> rows,
                                     std::span<const std::string> marks);
/// Returns a table's legend for the marks that it uses, one text per mark.
[[nodiscard]] std::vector<std::string> legend_of(std::string_view marks);

class ConsoleTable {
 public:
  struct Options {
    std::size_t name_width{40};                        // columns for names; longer results of `name` are cut
    bool colour{};                                     // colour the status
    std::optional<std::size_t> width{};                // terminal width: columns and notes that do not fit are left out
    std::function<std::string(const CaseId&)> name{};  // returns the shown name; empty for the whole name
  };
  /// Returns the number of terminal columns that a whole row takes besides the name, including its marks.
  [[nodiscard]] static std::size_t numbers_width();

  /// Prepares a table. If the terminal is too narrow for the names, the least important summary columns are left out
  /// first, then names are cut.
  /// @param out  must outlive the table
  ConsoleTable(std::FILE* out, Options options);

  /// Prints one aligned line, and flushes. The header precedes the first line. A case without a time has its reason in
  /// place of the numbers. A time's note follows the numbers. If the terminal has no room for the note, it shows the
  /// time's marks, and the summary explains them.
  void row(const Record& record);

  /// Prints a summary of the rows such as `60 cases: 54 ok, 4 oom, 2 unsupported; results in a.json; 3 min 12 s`.
  /// @param path  path of the results file; absent if there is none
  void summary(Seconds elapsed, const std::optional<std::string>& path);

 private:
  void header();
  [[nodiscard]] std::string note_for(const Record& record, std::size_t used);

  std::FILE* out_;
  Options options_;
  std::vector<std::size_t> widths_;  // widths of the summary columns; 0 for a column that is left out
  bool has_header_{};
  std::string marks_;  // marks that rows have instead of a note
  std::map<Status, std::size_t> counts_;
};

}  // namespace tbench::render
