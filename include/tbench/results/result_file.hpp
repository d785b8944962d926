// Results files on the disk: read as a whole or entry by entry, packed or not; and which of their records a command is
// about. result_json.hpp has their layout, result_writer.hpp the journal next to a file.
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
/// @throws  UsageError  naming path, problem and remedy
[[noreturn]] void refuse_file(const std::string& path, const std::string& problem, const std::string& remedy);

/// The remedy for a file that is not a results file.
inline constexpr const char* kMakeResultFile = "give a file that transformer_bench wrote with --benchmark_out=FILE";

/// The file's text without a byte order mark, unpacked if it is packed by gzip, which its bytes tell.
/// @throws  UsageError  naming the file, the problem and the remedy: it cannot be read; it is cut off or corrupt, or
///                      holds more than kMaxContent; or its name ends in ".gz", and it is neither packed nor JSON
[[nodiscard]] std::string read_text(const std::string& path);

/// The file's JSON.
/// @param path      for error messages
/// @param on_entry  takes every object of the array `benchmarks`, which is then left out of what is returned; with the
///                  version of the file's schema, where its context comes before, else the current one
/// @throws          UsageError  naming the file: empty, cut off, not JSON, or without `context` and `benchmarks`; and
///                              what `on_entry` throws
[[nodiscard]] Json parse_entries(const std::string& path, const std::string& text,
                                 const std::function<void(const Json& entry, std::int64_t version)>& on_entry);

/// Parses the whole JSON of a file.
/// @throws  UsageError  under the conditions of parse_entries()
[[nodiscard]] Json parse_file(const std::string& path, const std::string& text);

/// The results of one file, with a label that distinguishes it from other files.
struct NamedResults {
  std::string label;  // how a page calls them, e.g. the file's name
  ResultFile file;
};

/// @throws  UsageError  naming the file, the problem and the remedy: unreadable, cut off, not JSON, Google Benchmark's
///                      own JSON without `tbench`, another schema version, a field that is wrong
[[nodiscard]] ResultFile read_result_file(const std::string& path);

/// Replaces the file as a whole (write_atomically), packed by gzip if its name ends in ".gz": equal results give equal
/// bytes.
/// @throws  std::system_error      naming the path and the cause
/// @throws  std::invalid_argument  as result_file_to_json
void write_result_file(const std::string& path, const ResultFile& file);

/// The records whose case name matches `filter` anywhere, in their order; all for an empty filter.
/// @param filter  as CaseFilter takes it
/// @throws        UsageError  naming the value, for one that is no regular expression or that no case matches
[[nodiscard]] std::vector<Record> select_records(std::span<const Record> records, const std::string& filter);

}  // namespace tbench::results
