// The journal next to a results file during its run (result_writer.hpp): one line for the header, then one line per
// record. Each line has a checksum.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::results {

/// Returns a line of a journal: JSON, followed by the CRC-32 of its text (RFC 1952), as in `{...} #1a2b3c4d`.
[[nodiscard]] std::string journal_line(const Json& json);

/// Returns the run in a journal, or nullopt if the program ended before the header was complete. A torn last line is
/// ignored. In journals of earlier versions, whose header has no checksum, no line needs one.
/// @throws  UsageError  naming the file, the problem and the remedy: another line is torn, a line lacks its checksum or
///                      contradicts it, a field is wrong, or a record breaks a rule of record_rules.hpp
[[nodiscard]] std::optional<ResultFile> read_journal(const std::string& path);

/// Refuses a journal.
/// @throws  UsageError  naming the path, the problem and the remedy; always
[[noreturn]] void refuse_journal(const std::string& path, const std::string& problem);

}  // namespace tbench::results
