// The layout of a results file: Google Benchmark's JSON with ours under `tbench`, in `context` and in every entry.
// result_file.hpp reads and writes files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::results {

/// Rises whenever a field is added, removed or changes its meaning. Version 2 added how a number was taken (regime, l2,
/// launches_per_sample, resolution_limited); version 1, where everything was sustained, is still read.
inline constexpr std::int64_t kSchemaVersion = 9;
inline constexpr std::int64_t kOldestSchemaVersion = 1;

/// Facts about the machine that Google Benchmark reports and Environment lacks. No host names.
struct HostFacts {
  std::string executable;  // as it was called
  std::optional<double> mhz_per_cpu;
  std::optional<bool> cpu_scaling_enabled;
  std::vector<double> load_avg;  // 1, 5 and 15 minutes; empty where the system does not tell
  bool operator==(const HostFacts&) const = default;
};

/// Everything in a results file.
struct ResultFile {
  Environment environment;
  HostFacts host;
  std::map<std::string, std::string> options;  // of the command: suite, filter, seed ...
  bool interrupted{};                          // by the user, before the last selected case
  /// Number of other compute processes on the GPU when the run ended. Absent on a CPU, if the driver does not report
  /// them, if the cases ran in the program's own process, if the run was killed, and in older files.
  std::optional<std::int64_t> other_processes_at_end{};
  /// Names of the cases that the run is to measure, each in every one of its processes; in the file before the first
  /// case runs. Empty: not known, in files of before it was written.
  std::vector<std::string> plan{};
  std::vector<Record> records;  // in the order finished
  bool operator==(const ResultFile&) const = default;
};

/// One entry a record, and after the last of several repetitions their mean, median, stddev and cv. A record without
/// a time becomes an entry without one, of such a kind that Google Benchmark's compare.py passes over it
/// (bench/README.md).
/// @throws  std::invalid_argument  naming case and field, for a number that is not finite, or a counter whose name is
///                                 one of Google Benchmark's fields
[[nodiscard]] Json result_file_to_json(const ResultFile& file);

/// The inverse of result_file_to_json.
/// @throws  std::runtime_error  naming the field, for anything that result_file_to_json does not write
[[nodiscard]] ResultFile result_file_from_json(const Json& json);

/// The part that all records share: schema_version, environment, options, interrupted; host facts. First line of a
/// journal (result_writer.hpp), and where `context` comes from. `records` is left out.
[[nodiscard]] Json header_to_json(const ResultFile& file);
[[nodiscard]] ResultFile header_from_json(const Json& json, const std::string& where);

/// Why a file of schema version `version` cannot be read, or nothing.
[[nodiscard]] std::optional<std::string> unreadable_version(const Json& version);

/// The schema version that a file's `context` says, or a journal's first line; the current one where it says none.
[[nodiscard]] std::int64_t schema_version_of(const Json& context);

/// JSON text on one line, without a newline. Invalid UTF-8 is replaced.
[[nodiscard]] std::string compact(const Json& json);

/// JSON text for people: two spaces a level, an array of plain values on one line; ends in a newline. Invalid UTF-8 is
/// replaced.
[[nodiscard]] std::string pretty(const Json& json);

/// @throws  std::invalid_argument  as result_file_to_json
[[nodiscard]] Json benchmark_entries(std::span<const Record> records);

/// The record under `tbench` of one entry; nothing for an aggregate of others.
/// @param where  what to call the entry in an error message
/// @throws       as records_of_entries
/// @param version  of the file's schema
[[nodiscard]] std::optional<Record> record_of_entry(const Json& entry, const std::string& where, std::int64_t version);

/// The records under `tbench`.
/// @throws  std::runtime_error  naming the field: also for an entry that has no record and is no aggregate of others
/// @throws  RuleError           for a record or entry that breaks a rule of record_rules.hpp
[[nodiscard]] std::vector<Record> records_of_entries(const Json& benchmarks, std::int64_t version);

}  // namespace tbench::results
