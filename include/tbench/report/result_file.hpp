// Results files on the disk. Their layout is result_json.hpp's, the journal beside one result_writer.hpp's.
#pragma once

#include <string>

#include "tbench/report/result_json.hpp"

namespace tbench::report {

/// @throws  UsageError  naming the file, the problem and the remedy: unreadable, cut off, not JSON, Google Benchmark's
///                      own JSON without `tbench`, another schema version, a field that is wrong
[[nodiscard]] ResultFile read_result_file(const std::string& path);

/// Replaces the file as a whole (write_atomically).
/// @throws  std::system_error      naming the path and the cause
/// @throws  std::invalid_argument  as result_file_to_json
void write_result_file(const std::string& path, const ResultFile& file);

}  // namespace tbench::report
