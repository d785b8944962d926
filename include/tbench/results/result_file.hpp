// Reads results files as a whole or entry by entry, writes them, and selects their records by a filter. Files may be
// packed. result_json.hpp describes their layout, result_writer.hpp the journal next to a file.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::results {

/// Refuses a file.
/// @throws  UsageError  naming the path, the problem and the remedy; always
[[noreturn]] void refuse_file(const std::string& path, const std::string& problem, const std::string& remedy);

/// The remedy for a file that is not a results file.
inline constexpr const char* kMakeResultFile = "give a file that --benchmark_out=FILE wrote";

/// Returns the file's text without a byte order mark. Unpacks content that begins like a gzip file.
/// @throws  UsageError  naming the file, the problem and the remedy: the file cannot be read, its packed content is cut
///                      off or corrupt, it holds more than kMaxContent bytes, or its name ends in ".gz" and it is
///                      neither packed nor JSON
[[nodiscard]] std::string read_text(const std::string& path);

/// Parses a file's JSON, and passes its entries to a function one by one.
/// @param path      path of the file, for error messages
/// @param text      content of the file
/// @param on_entry  called with every object of the array `benchmarks`, and with the file's schema version, or the
///                  current version if `context` does not precede `benchmarks`
/// @return          the JSON without the objects of `benchmarks`
/// @throws          UsageError  naming the file, if it is empty, cut off, not JSON, or lacks `context` or `benchmarks`;
///                              exceptions of `on_entry` pass through
[[nodiscard]] Json parse_entries(const std::string& path, const std::string& text,
                                 const std::function<void(const Json& entry, std::int64_t version)>& on_entry);

/// Parses the whole JSON of a file.
/// @throws  UsageError  under the conditions of parse_entries()
[[nodiscard]] Json parse_file(const std::string& path, const std::string& text);

/// The results of one file, with a label that distinguishes it from other files.
struct NamedResults {
  std::string label;  // name of the results on a page, e.g. the file's name
  ResultFile file;
};

/// Reads a results file.
/// @throws  UsageError  naming the file, the problem and the remedy: the file is unreadable, cut off or not JSON, lacks
///                      `tbench`, or has an unknown schema version or a wrong field
[[nodiscard]] ResultFile read_result_file(const std::string& path);

/// Replaces the file as a whole (write_atomically()). Packs it with gzip if its name ends in ".gz". Equal results give
/// equal bytes.
/// @throws  WriteError             naming the path and the cause
/// @throws  std::invalid_argument  under the conditions of result_file_to_json()
void write_result_file(const std::string& path, const ResultFile& file);

/// Returns the records whose case names the filter selects, in their order; all records for an empty filter.
/// @param filter  expression in the format of CaseFilter
/// @throws        UsageError  naming the filter, if it is not a regular expression or selects no record
[[nodiscard]] std::vector<Record> select_records(std::span<const Record> records, const std::string& filter);

}  // namespace tbench::results
