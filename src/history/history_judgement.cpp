// Stores the verdicts, the validity and the baselines of judged runs. history.cpp stores the measurements.
#include <set>
#include <utility>

#include "history/history_database.hpp"
#include "tbench/history/history.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::history {
namespace {

std::set<std::int64_t> pinned_runs(const Connection& connection) {
  Statement select = connection.prepare("SELECT DISTINCT run FROM pin");
  std::set<std::int64_t> ids;
  while (select.step()) ids.insert(select.integer(0));
  return ids;
}

std::set<std::string> keys_of(const Connection& connection, const char* sql, std::int64_t run) {
  Statement select = connection.prepare(sql);
  select.bind(run);
  std::set<std::string> keys;
  while (select.step()) keys.insert(select.text(0));
  return keys;
}

void load_judgement(const Connection& connection, PastRun& run) {
  Statement select = connection.prepare("SELECT is_valid, is_blind FROM run WHERE id = ?");
  select.bind(run.run.id);
  if (select.step()) {
    run.is_valid = select.integer(0) != 0;
    run.is_blind = select.integer(1) != 0;
  }
  run.regressed = keys_of(
      connection, "SELECT key FROM regression JOIN bench_case ON bench_case.id = bench_case WHERE run = ?", run.run.id);
  run.excluded = keys_of(
      connection, "SELECT key FROM excluded JOIN bench_case ON bench_case.id = bench_case WHERE run = ?", run.run.id);
  run.baseline_of = keys_of(
      connection, "SELECT key FROM pin JOIN bench_case ON bench_case.id = bench_case WHERE run = ?", run.run.id);
}

/// Runs a statement for each key.
/// @param sql  statement that inserts a run and a case's key
void add_cases(const Connection& connection, const char* sql, std::int64_t run, const std::set<std::string>& keys) {
  Statement insert = connection.prepare(sql);
  for (const std::string& key : keys) insert.bind(run).bind(key).run();
}

/// Pins each case of the run that has no baseline in its series to the first valid run that measured it.
void pin_first_runs(const Connection& connection, std::int64_t run) {
  connection
      .prepare(R"sql(
        INSERT OR IGNORE INTO pin (run, bench_case)
        SELECT (SELECT earlier.id FROM run AS earlier
                WHERE earlier.fingerprint = now.fingerprint AND earlier.epoch = now.epoch AND earlier.is_valid
                  AND EXISTS (SELECT 1 FROM measurement AS m WHERE m.run = earlier.id AND m.bench_case = c.bench_case
                                AND m.status = 'ok')
                ORDER BY earlier.started, earlier.id LIMIT 1) AS first,
               c.bench_case
        FROM run AS now JOIN (SELECT DISTINCT run, bench_case FROM measurement WHERE run = ?1) AS c ON c.run = now.id
        WHERE now.id = ?1 AND first IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM pin JOIN run AS r ON r.id = pin.run
                          WHERE pin.bench_case = c.bench_case AND r.fingerprint = now.fingerprint
                            AND r.epoch = now.epoch)
      )sql")
      .bind(run)
      .run();
}

/// Adds the cases of a baseline to the expected cases, even cases that were retired before.
void expect_cases(const Connection& connection, std::int64_t run, const std::set<std::string>& keys) {
  Statement select = connection.prepare("SELECT environment, started FROM run WHERE id = ?");
  select.bind(run);
  if (keys.empty() || !select.step()) return;
  const std::string model =
      model_of(results::environment_from_json(results::parse_json(select.text(0)), "environment"));
  Statement insert = connection.prepare(
      "INSERT INTO expected (model, bench_case, since) SELECT ?, id, ? FROM bench_case WHERE key = ?"
      " ON CONFLICT DO UPDATE SET is_retired = 0");
  for (const std::string& key : keys) {
    insert.bind(std::string_view{model}).bind(std::string_view{select.text(1)}).bind(std::string_view{key}).run();
  }
}

void put_findings(const Connection& connection, std::int64_t run, const std::vector<GateVerdict::Row>& findings) {
  connection.prepare("DELETE FROM finding WHERE run = ?").bind(run).run();
  Statement insert = connection.prepare("INSERT INTO finding (run, outcome, subject, text) VALUES (?, ?, ?, ?)");
  for (const GateVerdict::Row& row : findings) {
    insert.bind(run).bind(std::string_view{row.outcome}).bind(std::string_view{row.subject});
    insert.bind(std::string_view{row.text}).run();
  }
}

}  // namespace

std::vector<PastRun> History::past(const std::string& fingerprint, const std::string& epoch, const std::string& before,
                                   std::size_t max_runs) const {
  return database_->explained([&] {
    const std::set<std::int64_t> pinned = pinned_runs(database_->connection);
    std::vector<StoredRun> all = runs(fingerprint, before);
    const std::size_t first = all.size() > max_runs ? all.size() - max_runs : 0;
    std::vector<PastRun> past;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i < first && (!is_of_epoch(all[i].epoch, epoch) || !pinned.contains(all[i].id))) continue;
      PastRun& run = past.emplace_back();
      run.run = std::move(all[i]);
      load_cases(run.run);
      load_judgement(database_->connection, run);
    }
    return past;
  });
}

bool History::read_judgement(std::int64_t run, const std::function<void(const std::string& text)>& read) const {
  return database_->explained([&] {
    Statement select = database_->connection.prepare("SELECT report FROM judgement WHERE run = ?");
    select.bind(run);
    if (!select.step()) return false;
    read(select.text(0));
    return true;
  });
}

void History::record(std::int64_t run, const GateVerdict& judgement, const std::set<std::string>& accepted) {
  database_->explained([&] {
    const Connection& connection = database_->connection;
    Transaction transaction{connection};
    connection.prepare("UPDATE run SET is_valid = ?, is_blind = ?, epoch = ? WHERE id = ?")
        .bind(std::int64_t{judgement.is_valid ? 1 : 0})
        .bind(std::int64_t{judgement.is_blind ? 1 : 0})
        .bind(std::string_view{judgement.epoch})
        .bind(run)
        .run();
    connection.prepare("INSERT OR REPLACE INTO judgement (run, report) VALUES (?, ?)")
        .bind(run)
        .bind(judgement.text)
        .run();
    connection.prepare("DELETE FROM regression WHERE run = ?").bind(run).run();
    add_cases(connection, "INSERT INTO regression (run, bench_case) SELECT ?, id FROM bench_case WHERE key = ?", run,
              judgement.regressed);
    connection.prepare("DELETE FROM excluded WHERE run = ?").bind(run).run();
    add_cases(connection, "INSERT INTO excluded (run, bench_case) SELECT ?, id FROM bench_case WHERE key = ?", run,
              judgement.excluded);
    add_cases(connection, "INSERT OR IGNORE INTO pin (run, bench_case) SELECT ?, id FROM bench_case WHERE key = ?", run,
              accepted);
    pin_first_runs(connection, run);
    expect_cases(connection, run, judgement.baseline);
    put_findings(connection, run, judgement.findings);
    transaction.commit();
  });
}

}  // namespace tbench::history
