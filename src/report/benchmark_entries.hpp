// The `benchmarks` of a results file: what Google Benchmark's own reporter would have written of our records.
// Private to the report layer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/report/record_json.hpp"

namespace tbench::report {

/// @throws  std::invalid_argument  as result_file_to_json
[[nodiscard]] Json benchmark_entries(std::span<const Record> records);

/// The record under `tbench` of one entry; nothing for an aggregate of others.
/// @param where  what to call the entry in an error message
/// @throws       as records_of_entries
[[nodiscard]] std::optional<Record> record_of_entry(const Json& entry, const std::string& where);

/// The records under `tbench`.
/// @throws  std::runtime_error  naming the field: also for an entry whose name or time is not its record's, and one
///                              that has no record and is no aggregate of others
[[nodiscard]] std::vector<Record> records_of_entries(const Json& benchmarks);

}  // namespace tbench::report
