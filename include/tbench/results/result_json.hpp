// The layout of a results file: Google Benchmark's JSON, with this project's data under the key `tbench` in `context`
// and in the entry of every record. result_file.hpp reads and writes files.
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

/// The version of the layout. It rises whenever a field is added or removed, or changes its meaning. Version 2 added
/// the description of the timing (regime, l2, launches_per_sample, resolution_limited). Version 1, in which every
/// timing is sustained, is still read.
inline constexpr std::int64_t kSchemaVersion = 11;
inline constexpr std::int64_t kOldestSchemaVersion = 1;

/// Facts about the machine that Google Benchmark reports and Environment lacks. No host names.
struct HostFacts {
  std::string executable;  // as it was called
  std::optional<double> mhz_per_cpu;
  std::optional<bool> cpu_scaling_enabled;
  std::vector<double> load_avg;  // over 1, 5 and 15 minutes; empty if the system does not report it
  bool operator==(const HostFacts&) const = default;
};

/// Everything in a results file.
struct ResultFile {
  Environment environment;
  HostFacts host;
  std::map<std::string, std::string> options;  // the command's options: suite, filter, seed ...
  bool interrupted{};                          // whether the user stopped the run before the last selected case
  /// Number of other compute processes on the GPU when the run ended. Absent on a CPU, if the driver does not report
  /// them, if the cases ran in the program's own process, if the run was killed, and in older files.
  std::optional<std::int64_t> other_processes_at_end{};
  /// Names of the cases that the run is to measure, each in every process of the run. Empty if unknown, as in older
  /// files.
  std::vector<std::string> plan{};
  std::vector<Record> records;  // in the order in which they finished
  bool operator==(const ResultFile&) const = default;
};

/// Converts a results file to JSON. Every record becomes one entry. Entries with the mean, median, stddev and cv of
/// several repetitions follow the last of them. A record without a time becomes an entry in a form that Google
/// Benchmark's compare.py ignores (bench/results_format.md).
/// @throws  std::invalid_argument  naming case and field, for a number that is not finite, or a counter with the name
///                                 of one of Google Benchmark's fields
[[nodiscard]] Json result_file_to_json(const ResultFile& file);

/// Converts JSON to a results file, the inverse of result_file_to_json().
/// @throws  std::runtime_error  naming the field, for anything that result_file_to_json() does not write
[[nodiscard]] ResultFile result_file_from_json(const Json& json);

/// Converts everything except the records to JSON: schema_version, environment, options, interrupted, plan and the host
/// facts. This is the first line of a journal (result_writer.hpp).
[[nodiscard]] Json header_to_json(const ResultFile& file);
/// Converts JSON to a results file without records, the inverse of header_to_json().
/// @param where  name of the value in error messages
/// @throws       std::runtime_error  naming the field that is wrong
[[nodiscard]] ResultFile header_from_json(const Json& json, const std::string& where);

/// Returns why a file of schema version `version` cannot be read, or nullopt if it can.
[[nodiscard]] std::optional<std::string> unreadable_version(const Json& version);

/// Returns the schema version in a file's `context` or in a journal's first line, or the current version if there is
/// none.
[[nodiscard]] std::int64_t schema_version_of(const Json& context);

/// Returns the JSON text on one line, without a newline at its end. Invalid UTF-8 is replaced.
[[nodiscard]] std::string compact(const Json& json);

/// Returns the JSON text for people: indented by two spaces per level, with an array of plain values on one line, and a
/// newline at its end. Invalid UTF-8 is replaced.
[[nodiscard]] std::string pretty(const Json& json);

/// Converts records to the entries of a results file, as in result_file_to_json().
/// @throws  std::invalid_argument  under the conditions of result_file_to_json()
[[nodiscard]] Json benchmark_entries(std::span<const Record> records);

/// Returns the record under `tbench` in one entry, or nullopt for an aggregate of several repetitions.
/// @param where    name of the entry in error messages
/// @param version  schema version of the file
/// @throws         std::runtime_error, RuleError  under the conditions of records_of_entries()
[[nodiscard]] std::optional<Record> record_of_entry(const Json& entry, const std::string& where, std::int64_t version);

/// Returns the records under `tbench` in all entries.
/// @param version  schema version of the file
/// @throws         std::runtime_error  naming the field that is wrong, or for an entry without a record that is not an
///                                     aggregate of several repetitions
/// @throws         RuleError           for a record or entry that breaks a rule of record_rules.hpp
[[nodiscard]] std::vector<Record> records_of_entries(const Json& benchmarks, std::int64_t version);

}  // namespace tbench::results
