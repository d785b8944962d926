// The tables of a history, and their migration from older versions.
#pragma once

#include <cstdint>

#include "tbench/sqlite/sqlite.hpp"

namespace tbench::history {

/// The PRAGMA application_id of a history: `tbnc` in ASCII.
inline constexpr std::int64_t kHistoryId = 0x74626e63;

/// The PRAGMA user_version that this program writes.
inline constexpr std::int64_t kHistoryVersion = 6;

/// Brings the tables of any older version, or of an empty database, to kHistoryVersion, in one transaction. A database
/// of that version is not changed. Two programs may migrate the same file at the same time.
/// @throws  SqliteError
void migrate(const sqlite::Connection& connection);

}  // namespace tbench::history
