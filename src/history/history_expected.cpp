// Stores the cases that the runs of a machine are expected to have, and detects copies of earlier runs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "history/history_database.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/history/history.hpp"
#include "tbench/results/measured_case.hpp"

namespace tbench::history {
namespace {

/// Adds the cases that were `ok` in the last valid run before `run`, without retired cases.
void add_last_run(const Connection& connection, const MeasuredRun& of, const std::string& model, std::int64_t run,
                  std::map<std::string, ExpectedCase>& cases) {
  Statement select = connection.prepare(R"sql(
    SELECT DISTINCT c.key, c.name,
      (SELECT min(first.started) FROM run AS first JOIN measurement AS then_measured ON then_measured.run = first.id
       WHERE first.fingerprint = ?1 AND first.is_valid AND then_measured.bench_case = c.id)
    FROM run AS r JOIN measurement AS m ON m.run = r.id JOIN bench_case AS c ON c.id = m.bench_case
    WHERE r.id = (SELECT id FROM run WHERE fingerprint = ?1 AND is_valid AND id <> ?2 AND started < ?3
                  ORDER BY started DESC, id DESC LIMIT 1)
      AND NOT EXISTS (SELECT 1 FROM measurement AS bad WHERE bad.run = r.id AND bad.bench_case = c.id
                        AND bad.status <> 'ok')
      AND NOT EXISTS (SELECT 1 FROM expected AS e WHERE e.model = ?4 AND e.bench_case = c.id AND e.is_retired)
  )sql");
  select.bind(std::string_view{of.fingerprint}).bind(run).bind(std::string_view{of.started});
  select.bind(std::string_view{model});
  while (select.step()) {
    const std::string key = select.text(0);
    cases.try_emplace(key, ExpectedCase{.key = key, .name = select.text(1), .since = select.text(2)});
  }
}

std::optional<std::int64_t> id_of_case(const Connection& connection, const std::string& key) {
  Statement select = connection.prepare("SELECT id FROM bench_case WHERE key = ?");
  select.bind(std::string_view{key});
  return select.step() ? std::optional{select.integer(0)} : std::nullopt;
}

/// Moves every row of a case to another case. If both have a row in a table, the row of the moved case replaces the
/// other one.
void move_rows(const Connection& connection, std::int64_t from, std::int64_t to) {
  for (const char* table : {"measurement", "regression", "excluded", "pin", "expected"}) {
    connection.prepare(fmt::format("UPDATE OR REPLACE {} SET bench_case = ? WHERE bench_case = ?", table))
        .bind(to)
        .bind(from)
        .run();
  }
  connection.prepare("DELETE FROM bench_case WHERE id = ?").bind(from).run();
}

}  // namespace

std::map<std::uint64_t, std::string> History::runs_with_samples(const std::vector<results::MeasuredCase>& cases,
                                                                std::int64_t but) const {
  return database_->explained([&] {
    Statement select = database_->connection.prepare(
        "SELECT started FROM sample_digest AS s JOIN run ON run.id = s.run WHERE s.digest = ? AND s.run <> ? AND "
        "is_valid"
        " ORDER BY started LIMIT 1");
    std::map<std::uint64_t, std::string> found;
    for (const results::MeasuredCase& c : cases) {
      for (const results::Replicate& r : c.replicates) {
        if (!r.samples_digest) continue;
        select.bind(static_cast<std::int64_t>(*r.samples_digest)).bind(but);
        if (!select.step()) continue;
        found.emplace(*r.samples_digest, select.text(0));
        while (select.step()) {
        }
      }
    }
    return found;
  });
}

std::int64_t History::later_runs(const std::string& fingerprint, const std::string& started, std::int64_t run) const {
  return database_->explained([&] {
    Statement select = database_->connection.prepare(
        "SELECT count(*) FROM run WHERE fingerprint = ? AND is_valid AND id < ? AND started > ?");
    select.bind(std::string_view{fingerprint}).bind(run).bind(std::string_view{started});
    return select.step() ? select.integer(0) : 0;
  });
}

std::vector<ExpectedCase> History::expected(const MeasuredRun& of, std::int64_t run) const {
  return database_->explained([&] {
    const std::string model = model_of(of.environment);
    std::map<std::string, ExpectedCase> cases;
    Statement select = database_->connection.prepare(
        "SELECT key, name, since FROM expected JOIN bench_case ON bench_case.id = bench_case"
        " WHERE model = ? AND NOT is_retired AND since < ?");
    select.bind(std::string_view{model}).bind(std::string_view{of.started});
    while (select.step()) {
      cases.emplace(select.text(0),
                    ExpectedCase{.key = select.text(0), .name = select.text(1), .since = select.text(2)});
    }
    add_last_run(database_->connection, of, model, run, cases);
    std::vector<ExpectedCase> sorted;
    for (auto& [key, c] : cases) {
      if (!is_ceiling(results::case_of_name(c.name))) sorted.push_back(std::move(c));
    }
    return sorted;
  });
}

void History::retire(const MeasuredRun& of, const std::set<std::string>& keys) {
  database_->explained([&] {
    Transaction transaction{database_->connection};
    const std::string model = model_of(of.environment);
    Statement insert = database_->connection.prepare(
        "INSERT INTO expected (model, bench_case, since, is_retired) SELECT ?, id, ?, 1 FROM bench_case WHERE key = ?"
        " ON CONFLICT DO UPDATE SET is_retired = 1");
    for (const std::string& key : keys) {
      insert.bind(std::string_view{model}).bind(std::string_view{of.started}).bind(std::string_view{key}).run();
    }
    transaction.commit();
  });
}

void History::rename(const CaseId& from, const CaseId& to) {
  database_->explained([&] {
    const Connection& connection = database_->connection;
    Transaction transaction{connection};
    const std::string key = results::match_key(to);
    const std::optional<std::int64_t> old_id = id_of_case(connection, results::match_key(from));
    if (!old_id) {
      throw UsageError{fmt::format("--renamed: no run has '{}'; give the name that the history knows", from.name())};
    }
    const std::optional<std::int64_t> new_id = id_of_case(connection, key);
    if (new_id) {
      Statement both = connection.prepare(
          "SELECT started FROM run WHERE EXISTS (SELECT 1 FROM measurement WHERE run = id AND bench_case = ?)"
          " AND EXISTS (SELECT 1 FROM measurement WHERE run = id AND bench_case = ?) LIMIT 1");
      both.bind(*old_id).bind(*new_id);
      if (both.step()) {
        throw UsageError{fmt::format(
            "--renamed: '{}' and '{}' are both in the run of {}, so they are two cases; use --retire for the "
            "one that is gone",
            from.name(), to.name(), both.text(0))};
      }
      move_rows(connection, *old_id, *new_id);
    } else {
      connection.prepare("UPDATE bench_case SET key = ?, name = ? WHERE id = ?")
          .bind(std::string_view{key})
          .bind(std::string_view{to.name()})
          .bind(*old_id)
          .run();
    }
    transaction.commit();
  });
}

}  // namespace tbench::history
