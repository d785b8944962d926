// The columns that sum up one record, for the console and for reports.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/report/table.hpp"

namespace tbench::report {

/// A quantity that a table can show of a case.
enum class Metric { kMilliseconds, kTokens, kTflops, kMfu, kMemory, kBandwidth, kCeilingShare };

/// The names that `--show` takes: ms, tokens, tflops, mfu, memory, bandwidth, share.
[[nodiscard]] std::span<const std::string> metric_names();
[[nodiscard]] std::optional<Metric> parse_metric(std::string_view name);
/// With the unit: `median ms`, `tokens/s`, `TFLOP/s`, `MFU %`, `peak GiB`, `TB/s`, `% of ceiling`.
[[nodiscard]] std::string metric_header(Metric metric);
/// In the unit of the header; nothing where the record does not tell.
[[nodiscard]] std::optional<double> metric_value(const Record& record, Metric metric);
[[nodiscard]] std::string format_metric(double value, Metric metric);

/// status, median ms, half width of the median's 95 % interval in %, tokens/s, TFLOP/s, MFU %, peak GiB, n (samples).
[[nodiscard]] std::vector<Column> summary_columns();

/// One cell a column; of a case without a time, the status, and the reason in place of all numbers.
[[nodiscard]] std::vector<std::string> summary_cells(const Record& record);

/// What is to be said of a time beside its numbers: why it is unstable or throttled, that it is too short for the
/// timer. Empty for most, and without a time.
[[nodiscard]] std::string note_of(const Record& record);

}  // namespace tbench::report
