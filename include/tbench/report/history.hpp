// The history of runs in one SQLite file: what was measured, when, on what, from which files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/units.hpp"
#include "tbench/report/measured_run.hpp"
#include "tbench/report/night.hpp"

namespace tbench::report {

/// A run as the history has it.
struct StoredRun {
  std::int64_t id{};
  std::string started;  // UTC
  std::string fingerprint;
  std::string epoch;
  Environment environment;
  std::vector<ComparedCase> cases;  // empty where they were not asked for
};

/// A run before tonight's, of the same fingerprint, with its cases.
struct PastRun {
  StoredRun run;
  bool is_valid{true};
  std::set<std::string> regressed;    // keys of the cases that were confirmed as REGRESSED in it
  std::set<std::string> baseline_of;  // keys of the cases whose history starts anew with it, because it was pinned
};

class History {
 public:
  /// How long a write waits for another one by default.
  static constexpr Seconds kWait{10};

  /// Opens the file to write, makes it if there is none, and brings an older one to this program's version. Readers
  /// are not disturbed by a writer, and several may write in turn (write-ahead log).
  /// @throws  UsageError  naming the file, the problem and the remedy: no database, not a history, from a newer
  ///                      program, damaged, read-only, locked for longer than `wait`. Nothing is changed then.
  [[nodiscard]] static History open(const std::string& path, Seconds wait = kWait);

  /// A copy in memory, of any version: what is written to it is gone at the end.
  /// @throws  UsageError  as open; if there is no file
  [[nodiscard]] static History open_copy(const std::string& path, Seconds wait = kWait);

  /// An empty one in memory.
  [[nodiscard]] static History in_memory();

  History(History&&) noexcept;
  History& operator=(History&&) noexcept;
  ~History();

  struct Added {
    std::int64_t id{};
    bool is_new{};  // false: the history had this run already, and nothing was changed
  };
  /// Adds a run, in one transaction: on the disk as a whole when the call returns, or not at all.
  /// @throws  UsageError  if some of its files are in the history as part of another run; as open, also for a full disk
  Added add(const MeasuredRun& run);
  /// Several in one transaction.
  std::vector<Added> add(std::span<const MeasuredRun> runs);

  /// Runs of a fingerprint that began before `before`, oldest first, without cases.
  /// @param before  UTC as format_timestamp writes it; empty: all
  /// @throws        UsageError  for a damaged database
  [[nodiscard]] std::vector<StoredRun> runs(const std::string& fingerprint, const std::string& before = {}) const;
  /// Every fingerprint, in the order of its first run.
  [[nodiscard]] std::vector<std::string> fingerprints() const;
  /// Fills in the cases of a run, in the order in which the history got to know them.
  void load_cases(StoredRun& run) const;

  /// What a night is judged against: the last `most` runs of a fingerprint that began before `before`, and those older
  /// ones of `epoch` that a case is pinned to. Oldest first, with their cases.
  [[nodiscard]] std::vector<PastRun> past(const std::string& fingerprint, const std::string& epoch,
                                          const std::string& before, std::size_t most) const;

  /// How a run was judged; nothing if it was not yet.
  [[nodiscard]] std::optional<NightReport> judgement(std::int64_t run) const;
  /// Records how a run was judged, in place of what was recorded before, and pins the cases of `accepted` (by key) to
  /// it: it is their baseline, and their history starts anew with it. Cases without a baseline are pinned to the first
  /// valid run of their fingerprint and epoch. In one transaction.
  /// @throws  UsageError  as add
  void record(std::int64_t run, const NightReport& report, const std::set<std::string>& accepted);

 private:
  struct Database;
  explicit History(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace tbench::report
