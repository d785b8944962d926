// Whether a file is an export of nsys that can be read. Whatever is refused is a results::CorrectableError, which names
// the file, the problem and the command that helps.
#pragma once

#include <cstdint>
#include <string>

#include "profile/nsys/nsys_schema.hpp"
#include "tbench/profile/trace.hpp"
#include "tbench/sqlite/sqlite.hpp"

namespace tbench::profile {

/// Checks a file before it is opened.
/// @throws  it cannot be read, is empty, a report that was not exported, no database, or cut off
void check_nsys_file(const std::string& path);

/// @param version  version of its schema; empty if unknown
/// @throws         a table that is read is a view, say; it is another program's; it lacks all tables of the GPU, or a
///                 column without which a table says nothing
void check_nsys_tables(const std::string& path, const sqlite::Connection& connection, const NsysSchema& schema,
                       const std::string& version);

/// @param dropped_rows  number of invalid rows
/// @throws              there is no operation of a GPU in it, or kernels were launched and there is none
void check_nsys_operations(const std::string& path, const Trace& trace, std::int64_t dropped_rows);

/// @throws  always: what SQLite could not read
[[noreturn]] void refuse_nsys_database(const std::string& path, const sqlite::SqliteError& error);

/// The report beside the export if it is the newer one of the two, with by how much: `'a.nsys-rep' beside it, by 0.1
/// s`. Empty: there is none. Copies and archives set times in any order, so that it need not come from another run.
[[nodiscard]] std::string newer_report(const std::string& path);

}  // namespace tbench::profile
