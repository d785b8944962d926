// The history of runs in one SQLite file: measured cases, times, machines and source files.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/units.hpp"
#include "tbench/history/measured_run.hpp"

namespace tbench::history {

/// A run as stored.
struct StoredRun {
  std::int64_t id{};
  std::string started;  // UTC
  std::string fingerprint;
  std::string epoch;
  Environment environment;
  std::vector<results::MeasuredCase> cases;  // empty unless asked for
  std::string way{};                         // as in compare::ComparisonSide; empty if unknown
};

/// A case that every complete run is expected to have: it was in a baseline and has not been retired.
struct ExpectedCase {
  std::string key;  // match_key
  std::string name;
  std::string since;  // UTC: the first run in which it was a baseline
  bool operator==(const ExpectedCase&) const = default;
};

/// A run of the past with its cases and its judgement.
struct PastRun {
  StoredRun run;
  bool is_valid{true};                  // also false until the run is judged
  bool is_blind{};                      // judged, and nothing in it could be gated
  std::set<std::string> regressed;      // keys of the cases that were confirmed as REGRESSED in it
  std::set<std::string> excluded{};     // keys of the cases that may not use it as a reference for another cause
  std::set<std::string> baseline_of{};  // keys of the cases whose history starts with it, because it was pinned
};

/// The judgement of a run: the facts that later runs need, and the gate's report as text.
struct GateVerdict {
  bool is_valid{true};              // the machine was as in earlier runs
  bool is_blind{};                  // nothing could be gated
  std::string epoch;                // epoch of the run: as measured, or of a machine that changed
  std::set<std::string> regressed;  // keys of the cases that were confirmed as REGRESSED
  std::string text;
  std::set<std::string> excluded{};  // keys of the cases that may not use it as a reference for another cause
  std::set<std::string> baseline{};  // keys of the cases that are expected from now on
  struct Row {
    std::string outcome;
    std::string subject;  // a case's name, or the part of the evidence
    std::string text;
  };
  std::vector<Row> findings{};  // outcomes that need attention
};

class History {
 public:
  /// The default time that a write waits for another writer.
  static constexpr Seconds kWait{10};

  /// Opens the file for writing, creates it if there is none, and migrates an older one to this program's version. A
  /// writer does not block readers, and several programs may write in turn (write-ahead log).
  /// @throws  UsageError  naming the file, the problem and the remedy: no database, not a history, from a newer
  ///                      program, damaged, read-only, locked for longer than `wait`. The file is left unchanged.
  [[nodiscard]] static History open(const std::string& path, Seconds wait = kWait);

  /// Copies a history of any version to another file, consistently, by SQLite's backup: the copy includes the contents
  /// of the write-ahead log. The copy is checked before it gets its name.
  /// @throws  UsageError  as open_copy; if `to` exists, or cannot be written
  static void back_up(const std::string& path, const std::string& to, Seconds wait = kWait);

  /// Opens a copy in memory of a file of any version. Writes to the copy are lost at the end.
  /// @throws  UsageError  as open; if there is no file
  [[nodiscard]] static History open_copy(const std::string& path, Seconds wait = kWait);

  /// Opens an empty history in memory.
  [[nodiscard]] static History in_memory();

  History(History&&) noexcept;
  History& operator=(History&&) noexcept;
  ~History();

  struct Added {
    std::int64_t id{};
    bool is_new{};  // false: the history has this run already, and nothing was changed
  };
  /// Adds a run in one transaction: when the call returns, the whole run is on disk; if it throws, none of it.
  /// @throws  UsageError  if some of its files are in the history as part of another run; as open, also for a full disk
  Added add(const MeasuredRun& run);
  /// Adds several runs in one transaction.
  std::vector<Added> add(std::span<const MeasuredRun> runs);
  /// Adds a run whose judgement record() will add next. Until then the run is not valid, so that a program that ends in
  /// between leaves no reference that was never judged.
  /// @throws  UsageError  as add
  Added add_to_judge(const MeasuredRun& run);

  /// Returns the runs of a fingerprint that began before `before`, oldest first, without cases.
  /// @param before  UTC as format_timestamp writes it; empty: all
  /// @throws        UsageError  for a damaged database
  [[nodiscard]] std::vector<StoredRun> runs(const std::string& fingerprint, const std::string& before = {}) const;
  /// Returns all fingerprints, in the order of their first runs.
  [[nodiscard]] std::vector<std::string> fingerprints() const;
  /// Fills in the cases of a run, in the order in which they were first added.
  void load_cases(StoredRun& run) const;

  /// Returns the runs with which a run is compared, oldest first and with their cases: the last `max_runs` runs of a
  /// fingerprint that began before `before`, and older runs of `epoch` to which a case is pinned.
  /// @param epoch  as measured: the epochs of a machine that changed belong to it (machine_epoch)
  [[nodiscard]] std::vector<PastRun> past(const std::string& fingerprint, const std::string& epoch,
                                          const std::string& before, std::size_t max_runs) const;

  /// Returns when a judged run had the same samples, by digest. Samples that no judged run had are left out.
  /// @param but  the run to ignore
  [[nodiscard]] std::map<std::uint64_t, std::string> runs_with_samples(const std::vector<results::MeasuredCase>& cases,
                                                                       std::int64_t but) const;
  /// Counts the judged runs of the fingerprint that were added before `run` but have a later date.
  [[nodiscard]] std::int64_t later_runs(const std::string& fingerprint, const std::string& started,
                                        std::int64_t run) const;
  /// Returns the cases that a run of the machine is expected to have, sorted by key: the cases of baselines on it, and
  /// the cases that were `ok` in its last valid run before `run`. Ceilings are not among them.
  [[nodiscard]] std::vector<ExpectedCase> expected(const MeasuredRun& of, std::int64_t run) const;
  /// Removes cases, given by their keys, from the cases that runs of the machine are expected to have.
  void retire(const MeasuredRun& of, const std::set<std::string>& keys);
  /// Continues the series of a case under another name.
  /// @throws  UsageError  if no run has `from`, or if a run that has `to` also had `from`
  void rename(const CaseId& from, const CaseId& to);

  /// Calls `read` with the text of a run's judgement.
  /// @return  false if the run was not judged
  /// @throws  UsageError  naming the file; also if `read` throws a std::runtime_error or a JSON exception, since this
  /// program did not write such a text
  bool read_judgement(std::int64_t run, const std::function<void(const std::string& text)>& read) const;
  /// Records the judgement of a run, in one transaction, and replaces an earlier one. Pins the cases of `accepted` (by
  /// key) to the run: it is their baseline, with which their series starts. Pins cases without a baseline to the first
  /// valid run of their fingerprint and epoch.
  /// @throws  UsageError  as add
  void record(std::int64_t run, const GateVerdict& judgement, const std::set<std::string>& accepted);

 private:
  struct Database;
  explicit History(std::unique_ptr<Database> database);
  std::vector<Added> add_all(std::span<const MeasuredRun> runs, bool are_references);
  std::unique_ptr<Database> database_;
};

}  // namespace tbench::history
