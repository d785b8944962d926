#include "tbench/history/history.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "history/history_database.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/measured_case.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::history {
namespace {

std::optional<double> real_or_nothing(const Statement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional{row.real(column)};
}

template <class Quantity>
std::optional<double> value_of(const std::optional<Quantity>& quantity) {
  return quantity ? std::optional{quantity->value} : std::nullopt;
}

template <class Quantity>
std::optional<Quantity> quantity_of(const std::optional<double>& value) {
  return value ? std::optional{Quantity{*value}} : std::nullopt;
}

std::int64_t add_run(const Connection& connection, const MeasuredRun& run, bool is_reference) {
  Statement insert = connection.prepare(
      "INSERT INTO run (digest, started, fingerprint, epoch, environment, is_valid, way) VALUES (?, ?, ?, ?, ?, ?, ?)");
  insert.bind(run.digest).bind(run.started).bind(run.fingerprint).bind(run.epoch);
  insert.bind(results::compact(results::environment_to_json(run.environment)));
  insert.bind(std::int64_t{is_reference ? 1 : 0}).bind(std::string_view{run.way}).run();
  const std::int64_t id = connection.last_row_id();
  Statement file = connection.prepare("INSERT INTO file (digest, run, path, started) VALUES (?, ?, ?, ?)");
  for (const RunFile& f : run.files) file.bind(f.digest).bind(id).bind(f.path).bind(f.started).run();
  return id;
}

std::int64_t case_id(const Connection& connection, const results::MeasuredCase& c) {
  Statement find = connection.prepare("SELECT id FROM bench_case WHERE key = ?");
  find.bind(c.key);
  if (find.step()) return find.integer(0);
  connection.prepare("INSERT INTO bench_case (key, name) VALUES (?, ?)").bind(c.key).bind(c.id.name()).run();
  return connection.last_row_id();
}

void add_measurements(const Connection& connection, std::int64_t run, const std::vector<results::MeasuredCase>& cases) {
  Statement insert = connection.prepare(
      "INSERT INTO measurement (run, bench_case, replicate, status, reason, time_s, relative_half_width, sm_clock_hz,"
      " peak_bytes, flop, mfu, ceiling_share, ceiling, host_bound, device_time_s, requested_peak_bytes)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement digest = connection.prepare("INSERT OR IGNORE INTO sample_digest (digest, run) VALUES (?, ?)");
  for (const results::MeasuredCase& c : cases) {
    const std::int64_t id = case_id(connection, c);
    std::int64_t replicate = 0;
    for (const results::Replicate& r : c.replicates) {
      insert.bind(run).bind(id).bind(replicate++).bind(to_string(r.status)).bind(std::string_view{r.reason});
      insert.bind(value_of(r.time)).bind(r.relative_half_width).bind(value_of(r.sm_clock)).bind(r.peak_bytes);
      insert.bind(value_of(r.work)).bind(r.peak_share_at_clock).bind(r.ceiling_share).bind(std::string_view{r.ceiling});
      insert.bind(r.host_bound ? std::optional<std::int64_t>{*r.host_bound ? 1 : 0} : std::nullopt);
      insert.bind(value_of(r.device_time)).bind(r.requested_peak_bytes).run();
      if (r.samples_digest) digest.bind(static_cast<std::int64_t>(*r.samples_digest)).bind(run).run();
    }
  }
}

/// Returns the id of the run to which all files belong, or nullopt if the history has none of the files.
std::optional<std::int64_t> known_run(const Connection& connection, const MeasuredRun& run) {
  Statement same = connection.prepare("SELECT id FROM run WHERE digest = ?");
  same.bind(run.digest);
  if (same.step()) return same.integer(0);
  for (const RunFile& file : run.files) {
    Statement find =
        connection.prepare("SELECT run.started FROM file JOIN run ON run.id = file.run WHERE file.digest = ?");
    find.bind(file.digest);
    if (!find.step()) continue;
    throw UsageError{fmt::format(
        "'{}' is in the history already, with other files, as part of the run of {}; give all files of that run "
        "and no others",
        file.path, find.text(0))};
  }
  return std::nullopt;
}

results::Replicate replicate_of(const Statement& row) {
  enum : int {
    kKey,
    kName,
    kStatus,
    kReason,
    kTime,
    kHalfWidth,
    kClock,
    kPeak,
    kFlop,
    kMfu,
    kCeilingShare,
    kCeiling,
    kHostBound,
    kDeviceTime,
    kRequestedPeak
  };
  results::Replicate replicate;
  const std::optional<Status> status = parse_enum<Status>(row.text(kStatus));
  if (!status) throw SqliteError{SQLITE_CORRUPT, fmt::format("a status '{}'", row.text(kStatus))};
  replicate.status = *status;
  replicate.reason = row.text(kReason);
  replicate.time = quantity_of<Seconds>(real_or_nothing(row, kTime));
  replicate.relative_half_width = real_or_nothing(row, kHalfWidth);
  replicate.sm_clock = quantity_of<Hertz>(real_or_nothing(row, kClock));
  if (!row.is_null(kPeak)) replicate.peak_bytes = row.integer(kPeak);
  replicate.work = quantity_of<Flop>(real_or_nothing(row, kFlop));
  replicate.peak_share_at_clock = real_or_nothing(row, kMfu);
  replicate.ceiling_share = real_or_nothing(row, kCeilingShare);
  replicate.ceiling = row.text(kCeiling);
  if (!row.is_null(kHostBound)) replicate.host_bound = row.integer(kHostBound) != 0;
  replicate.device_time = quantity_of<Seconds>(real_or_nothing(row, kDeviceTime));
  if (!row.is_null(kRequestedPeak)) replicate.requested_peak_bytes = row.integer(kRequestedPeak);
  return replicate;
}

}  // namespace

History::History(std::unique_ptr<Database> database) : database_{std::move(database)} {}
History::History(History&&) noexcept = default;
History& History::operator=(History&&) noexcept = default;
History::~History() = default;

History History::open(const std::string& path, Seconds wait) {
  return History{std::make_unique<Database>(Database::open(path, wait))};
}

History History::open_copy(const std::string& path, Seconds wait) {
  return History{std::make_unique<Database>(Database::open_copy(path, wait))};
}

void History::back_up(const std::string& path, const std::string& to, Seconds wait) {
  Database::back_up(path, to, wait);
}

History History::in_memory() { return History{std::make_unique<Database>(Database::in_memory())}; }

History::Added History::add(const MeasuredRun& run) { return add(std::span{&run, 1}).front(); }

std::vector<History::Added> History::add(std::span<const MeasuredRun> runs) { return add_all(runs, true); }

History::Added History::add_to_judge(const MeasuredRun& run) { return add_all(std::span{&run, 1}, false).front(); }

std::vector<History::Added> History::add_all(std::span<const MeasuredRun> runs, bool are_references) {
  return database_->explained([&] {
    const Connection& connection = database_->connection;
    Transaction transaction{connection};
    std::vector<Added> added;
    for (const MeasuredRun& run : runs) {
      refuse_planted(run);
      if (const auto known = known_run(connection, run)) {
        added.push_back({.id = *known, .is_new = false});
        continue;
      }
      const std::int64_t id = add_run(connection, run, are_references);
      add_measurements(connection, id, run.cases);
      added.push_back({.id = id, .is_new = true});
    }
    transaction.commit();
    return added;
  });
}

std::vector<StoredRun> History::runs(const std::string& fingerprint, const std::string& before) const {
  return database_->explained([&] {
    Statement select = database_->connection.prepare(
        "SELECT id, started, epoch, environment, way FROM run WHERE fingerprint = ? AND (? = '' OR started < ?)"
        " ORDER BY started, id");
    select.bind(fingerprint).bind(before).bind(before);
    std::vector<StoredRun> runs;
    while (select.step()) {
      StoredRun& run = runs.emplace_back();
      run.id = select.integer(0);
      run.started = select.text(1);
      run.fingerprint = fingerprint;
      run.epoch = select.text(2);
      run.environment = results::environment_from_json(results::parse_json(select.text(3)), "environment");
      run.way = select.text(4);
    }
    return runs;
  });
}

std::vector<std::string> History::fingerprints() const {
  return database_->explained([&] {
    Statement select =
        database_->connection.prepare("SELECT fingerprint FROM run GROUP BY fingerprint ORDER BY min(id)");
    std::vector<std::string> all;
    while (select.step()) all.push_back(select.text(0));
    return all;
  });
}

void History::load_cases(StoredRun& run) const {
  database_->explained([&] {
    Statement select = database_->connection.prepare(
        "SELECT key, name, status, reason, time_s, relative_half_width, sm_clock_hz, peak_bytes, flop, mfu,"
        " ceiling_share, ceiling, host_bound, device_time_s, requested_peak_bytes"
        " FROM measurement JOIN bench_case ON bench_case.id = bench_case WHERE run = ? ORDER BY bench_case, replicate");
    select.bind(run.id);
    run.cases.clear();
    while (select.step()) {
      const std::string key = select.text(0);
      if (run.cases.empty() || run.cases.back().key != key)
        run.cases.push_back({results::case_of_name(select.text(1)), key, {}});
      run.cases.back().replicates.push_back(replicate_of(select));
    }
  });
}

}  // namespace tbench::history
