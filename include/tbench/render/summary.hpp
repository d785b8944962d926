// Sums up one record in quantities and columns, for reports and for the benchmark's own output, which has a row for
// each record as it arrives and a summary at the end.
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

/// A quantity that a table can show of a case.
enum class Metric { kMilliseconds, kTokens, kTflops, kMfu, kMemory, kBandwidth, kCeilingShare, kFloorShare };

/// The names that `--show` takes: ms, tokens, tflops, mfu, memory, bandwidth, share, floor.
[[nodiscard]] std::span<const std::string> metric_names();
[[nodiscard]] std::optional<Metric> parse_metric(std::string_view name);
/// The header with the unit: `median ms`, `tokens/s`, `TFLOP/s`, `MFU %`, `peak GiB`, `TB/s`, `% of ceiling`, `floor, %
/// of time`.
[[nodiscard]] std::string metric_header(Metric metric);
/// The value in the unit of the header; nothing where the record does not tell.
[[nodiscard]] std::optional<double> metric_value(const Record& record, Metric metric);
[[nodiscard]] std::string format_metric(double value, Metric metric);

/// status, median ms, half width of the median's 95 % interval in %, tokens/s, TFLOP/s, MFU %, peak GiB, n (samples).
[[nodiscard]] std::vector<Column> summary_columns();

/// One cell a column; of a case without a time, the status, and the reason in place of all numbers.
[[nodiscard]] std::vector<std::string> summary_cells(const Record& record);

/// Returns the text that stands for the number of a case without a time: `OOM`, or the status as it is.
[[nodiscard]] std::string status_text(Status status);

/// Returns the remarks on a time next to its numbers: why it is unstable or throttled, that it is too short for the
/// timer, never was steady or has a wide interval, that the host limits it. Empty for most, and without a time.
[[nodiscard]] std::string note_of(const Record& record);

/// The same as marks of a cell, each at most once: `*` unstable or throttled; `~` not sharp: under 10 us, never steady
/// in its warm-up, or with an interval of over 2 %, where the sampler chose how long to measure; `h` limited by the
/// host.
[[nodiscard]] std::string marks_of(std::span<const Record* const> repetitions);
/// The header of the column in which a table has the marks of its times.
inline constexpr const char* kMarksHeader = "marks";
/// The marks of one of a row's times.
struct NamedMarks {
  std::string name;  // what tells it from the others of the row; empty: nothing does
  std::string marks;
};
/// A row's cell of marks, `tf32 ~h, bf16 h`. Times without a mark are left out.
[[nodiscard]] std::string marks_cell(std::span<const NamedMarks> times);
/// A table whose last column has the marks of each row, where any has.
/// @param rows   one text per column
/// @param marks  one per row
[[nodiscard]] Table table_with_marks(std::vector<Column> columns, std::vector<std::vector<std::string>> rows,
                                     std::span<const std::string> marks);
/// Returns a table's legend for the marks that it uses, one text per mark.
[[nodiscard]] std::vector<std::string> legend_of(std::string_view marks);

class ConsoleTable {
 public:
  struct Options {
    std::size_t name_width{40};                        // of the longest name to come; a longer one is cut
    bool colour{};                                     // of the status
    std::optional<std::size_t> width{};                // of the terminal: columns and notes that do not fit go
    std::function<std::string(const CaseId&)> name{};  // empty: the whole name
  };
  /// Columns of a terminal that a whole row takes besides the name, marks at its end included.
  [[nodiscard]] static std::size_t numbers_width();

  /// In a terminal that is too narrow for the names, the summary columns that a reader misses least are left out, and
  /// then names are cut.
  /// @param out  must outlive the table
  ConsoleTable(std::FILE* out, Options options);

  /// Prints one aligned line (before the first, the header) and flushes. The reason of a status other than `ok` is in
  /// the line: in place of the numbers if the case has no time, after them if it has. Where a terminal has no room for
  /// what is to be said of a time, its marks are there, and the summary tells what they mean.
  void row(const Record& record);

  /// Prints e.g. `60 cases: 54 ok, 4 oom, 2 unsupported; results in a.json; 3 min 12 s`. Counts the rows.
  /// @param path  of the results file, where there is one
  void summary(Seconds elapsed, const std::optional<std::string>& path);

 private:
  void header();
  [[nodiscard]] std::string note_for(const Record& record, std::size_t used);

  std::FILE* out_;
  Options options_;
  std::vector<std::size_t> widths_;  // of the summary columns; 0: left out
  bool has_header_{};
  std::string marks_;  // that rows have in place of a note
  std::map<Status, std::size_t> counts_;
};

}  // namespace tbench::render
