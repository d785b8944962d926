// The journal beside a results file while its run goes on (result_writer.hpp): a line for the header, then one per
// record, each with its checksum.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::results {

/// JSON on one line, followed by the CRC-32 of its text (RFC 1952): `{...} #1a2b3c4d`.
[[nodiscard]] std::string journal_line(const Json& json);

/// A journal's run; nothing if the program died before the header was whole. The last line may be torn and is then left
/// out. A journal of an earlier version, whose header has no checksum, has none at all.
/// @throws  UsageError  naming file, line and remedy: another torn line, a line that its checksum contradicts or that
///                      lacks one, a field that is wrong, a record that breaks a rule of record_rules.hpp
[[nodiscard]] std::optional<ResultFile> read_journal(const std::string& path);

/// @throws  UsageError  naming path, problem and remedy
[[noreturn]] void refuse_journal(const std::string& path, const std::string& problem);

/// Replaces the record of the same case and repetition, or appends.
void merge(std::vector<Record>& records, Record record);

}  // namespace tbench::results
