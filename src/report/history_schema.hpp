// The tables of a history and how an older one becomes the newest. Private to the report layer.
#pragma once

#include <cstdint>

#include "sqlite.hpp"

namespace tbench::report {

/// PRAGMA application_id of a history: `tbnc`.
inline constexpr std::int64_t kHistoryId = 0x74626e63;

/// PRAGMA user_version that this program writes.
inline constexpr std::int64_t kHistoryVersion = 2;

/// Brings the tables of any older version, or of an empty database, to kHistoryVersion, in one transaction; does
/// nothing to those that are there already. Two programs may do it at once.
/// @throws  SqliteError
void migrate(const Connection& connection);

}  // namespace tbench::report
