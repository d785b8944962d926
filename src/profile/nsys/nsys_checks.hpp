// Checks whether a file is a readable export of nsys. All functions that refuse a file throw results::CorrectableError
// with the file, the problem and the command that corrects it.
#pragma once

#include <cstdint>
#include <string>

#include "profile/nsys/nsys_schema.hpp"
#include "tbench/profile/trace.hpp"
#include "tbench/sqlite/sqlite.hpp"

namespace tbench::profile {

/// Checks a file before it is opened.
/// @throws  results::CorrectableError  if the file cannot be read, is empty, is a report that was not exported, is not
///                                     a database, or is truncated
void check_nsys_file(const std::string& path);

/// Checks the tables of an export.
/// @param version  version of the schema; empty if unknown
/// @throws         results::CorrectableError  if a table that is read is not a table (a view, for example), the file is
///                                            from another program, or it lacks all GPU tables or a required column
void check_nsys_tables(const std::string& path, const sqlite::Connection& connection, const NsysSchema& schema,
                       const std::string& version);

/// Checks the operations of an export.
/// @param dropped_rows  number of invalid rows
/// @throws              results::CorrectableError  if the trace has no GPU operation, or has launches but no kernel
void check_nsys_operations(const std::string& path, const Trace& trace, std::int64_t dropped_rows);

/// Reports an error of SQLite.
/// @throws  results::CorrectableError  always
[[noreturn]] void refuse_nsys_database(const std::string& path, const sqlite::SqliteError& error);

/// Returns the report next to the export and its lead in time, `'a.nsys-rep' beside it, by 0.1 s`, if it is newer than
/// the export, otherwise an empty text. A newer report need not be from another run, because copying and unpacking may
/// change the times of files.
[[nodiscard]] std::string newer_report(const std::string& path);

}  // namespace tbench::profile
