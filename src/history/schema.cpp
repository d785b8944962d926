#include "history/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/history/measured_run.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::history {
namespace {

using sqlite::Connection;
using sqlite::Statement;
using sqlite::Transaction;

// Step i migrates a database from version i to i + 1. A released step is never changed, since databases may have been
// migrated by it.
constexpr std::array<const char*, static_cast<std::size_t>(kHistoryVersion)> kSteps{
    // 1: the measurements.
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
    // 2: the judgements. Older runs were never judged and count as valid.
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
    // 3: the old column ceiling_share had the share of the datasheet's rate, and becomes mfu. The new one has the share
    // of the measured ceiling.
    R"sql(
      ALTER TABLE measurement RENAME COLUMN ceiling_share TO mfu;
      ALTER TABLE measurement ADD COLUMN ceiling_share REAL;
    )sql",
    // 4: the ceiling with which a case is compared, whether the host limits the case, and runs in which nothing could
    // be gated. A machine is now identified by its GPU's UUID and its processor, and an epoch only by its software
    // (name_series).
    R"sql(
      ALTER TABLE measurement ADD COLUMN ceiling TEXT NOT NULL DEFAULT '';
      ALTER TABLE measurement ADD COLUMN host_bound INTEGER;
      ALTER TABLE run ADD COLUMN is_blind INTEGER NOT NULL DEFAULT 0;
    )sql",
    // 5: the GPU's own time in a step, and the bytes that tensors requested at the peak. Older runs do not have them.
    R"sql(
      ALTER TABLE measurement ADD COLUMN device_time_s REAL;
      ALTER TABLE measurement ADD COLUMN requested_peak_bytes INTEGER;
    )sql",
    // 6: the cases that a machine's runs are expected to have, the findings on a run, digests of a run's samples, the
    // cases for which a run is not a reference, and the measurement settings.
    R"sql(
      ALTER TABLE run ADD COLUMN way TEXT NOT NULL DEFAULT '';
      CREATE TABLE expected (
        model TEXT NOT NULL,              -- of the GPU, or of the processor
        bench_case INTEGER NOT NULL REFERENCES bench_case (id),
        since TEXT NOT NULL,              -- UTC: the first run that it was a baseline in
        is_retired INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (model, bench_case)) WITHOUT ROWID;
      CREATE TABLE excluded (
        run INTEGER NOT NULL REFERENCES run (id),
        bench_case INTEGER NOT NULL REFERENCES bench_case (id),
        PRIMARY KEY (run, bench_case)) WITHOUT ROWID;
      CREATE TABLE finding (
        run INTEGER NOT NULL REFERENCES run (id),
        outcome TEXT NOT NULL,
        subject TEXT NOT NULL,            -- a case's name, or what of the run it is about
        text TEXT NOT NULL);
      CREATE INDEX finding_of_run ON finding (run);
      CREATE TABLE sample_digest (
        digest INTEGER NOT NULL,          -- of a record's samples
        run INTEGER NOT NULL REFERENCES run (id),
        PRIMARY KEY (digest, run)) WITHOUT ROWID;
    )sql",
};
constexpr std::int64_t kSeriesNamedSince = 4;

/// Sets the fingerprint and the epoch of every run to those that this program derives from its environment.
void name_series(const Connection& connection) {
  Statement select = connection.prepare("SELECT id, environment FROM run");
  std::vector<std::pair<std::int64_t, std::string>> runs;
  while (select.step()) runs.emplace_back(select.integer(0), select.text(1));
  Statement update = connection.prepare("UPDATE run SET fingerprint = ?, epoch = ? WHERE id = ?");
  for (const auto& [id, text] : runs) {
    const Environment environment = results::environment_from_json(results::parse_json(text), "environment");
    update.bind(std::string_view{fingerprint_of(environment)}).bind(std::string_view{epoch_of(environment)});
    update.bind(id).run();
  }
}

}  // namespace

void migrate(const Connection& connection) {
  if (connection.integer("PRAGMA user_version") == kHistoryVersion) return;
  Transaction transaction{connection};
  // Another program may have migrated the file between the check above and the lock.
  const std::int64_t version = connection.integer("PRAGMA user_version");
  for (auto step = static_cast<std::size_t>(version); step < kSteps.size(); ++step) connection.execute(kSteps.at(step));
  if (version > 0 && version < kSeriesNamedSince) name_series(connection);
  connection.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kHistoryId, kHistoryVersion));
  transaction.commit();
}

}  // namespace tbench::history
