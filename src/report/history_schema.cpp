#include "history_schema.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace tbench::report {
namespace {

// What leads from version i to i + 1. A step that was released is never changed: a database may have been through it.
constexpr std::array<const char*, static_cast<std::size_t>(kHistoryVersion)> kSteps{
    // 1: what was measured
    R"sql(
      CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,      -- of the files' digests
        started TEXT NOT NULL,            -- UTC, ISO 8601
        fingerprint TEXT NOT NULL,        -- machine and setting
        epoch TEXT NOT NULL,              -- driver and libraries
        environment TEXT NOT NULL);       -- JSON
      CREATE INDEX run_by_series ON run (fingerprint, started);
      CREATE TABLE file (
        digest TEXT PRIMARY KEY,          -- SHA-256
        run INTEGER NOT NULL REFERENCES run (id),
        path TEXT NOT NULL,
        started TEXT NOT NULL) WITHOUT ROWID;
      CREATE INDEX file_of_run ON file (run);
      CREATE TABLE bench_case (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,         -- what cases are matched by
        name TEXT NOT NULL);
      CREATE TABLE measurement (
        run INTEGER NOT NULL REFERENCES run (id),
        bench_case INTEGER NOT NULL REFERENCES bench_case (id),
        replicate INTEGER NOT NULL,
        status TEXT NOT NULL,
        reason TEXT NOT NULL,
        time_s REAL,                      -- median of the process
        relative_half_width REAL,
        sm_clock_hz REAL,
        peak_bytes INTEGER,
        flop REAL,
        ceiling_share REAL,
        PRIMARY KEY (run, bench_case, replicate)) WITHOUT ROWID;
    )sql",
    // 2: what was said of it. Runs of before were never judged: they count as valid.
    R"sql(
      ALTER TABLE run ADD COLUMN is_valid INTEGER NOT NULL DEFAULT 1;
      CREATE TABLE judgement (
        run INTEGER PRIMARY KEY REFERENCES run (id),
        report TEXT NOT NULL);            -- JSON
      CREATE TABLE regression (           -- confirmed
        run INTEGER NOT NULL REFERENCES run (id),
        bench_case INTEGER NOT NULL REFERENCES bench_case (id),
        PRIMARY KEY (run, bench_case)) WITHOUT ROWID;
      CREATE TABLE pin (                  -- the run is the case's baseline from then on
        run INTEGER NOT NULL REFERENCES run (id),
        bench_case INTEGER NOT NULL REFERENCES bench_case (id),
        PRIMARY KEY (run, bench_case)) WITHOUT ROWID;
    )sql",
};

}  // namespace

void migrate(const Connection& connection) {
  if (connection.integer("PRAGMA user_version") == kHistoryVersion) return;
  Transaction transaction{connection};
  // Another program may have done it between the look above and the lock.
  const std::int64_t version = connection.integer("PRAGMA user_version");
  for (auto step = static_cast<std::size_t>(version); step < kSteps.size(); ++step) connection.execute(kSteps.at(step));
  connection.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kHistoryId, kHistoryVersion));
  transaction.commit();
}

}  // namespace tbench::report
