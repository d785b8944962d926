// Rules that every record keeps, and every entry of a results file. Readers refuse what breaks one: it was edited, or
// written by another program, and no conclusion from it would be sound. Odd traces, clocks and memory are no broken
// rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tbench/core/case_id.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/record.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::results {

enum class RecordRule {
  kTime,          // there is a time exactly if the status has one
  kRegime,        // steps have their host times, bursts what is said of bursts
  kReason,        // every status but `ok` has a reason, of at most kMaxReason bytes
  kVerification,  // what has a time did not fail its verification
  kSamples,       // there are samples, all above 0
  kFlagged,       // flagged samples exist
  kStatistics,    // statistics are those of the samples
  kLeastFlop,     // the least FLOP of the work are at most its FLOP
  kMemory,        // the parts of the peak add up to it, and those of what a phase holds to that
  kRepetition,    // 0 <= index < repetitions
  kName,          // an entry's name is its record's family and parameters
  kRealTime,      // an entry's real_time is its record's median
  kCounters,      // an entry's counters are those that follow from its record
  kOnce,          // a file has one record of a case and repetition
  kCopy           // and the same samples of a case once
};

/// The longest reason, in bytes: ResultWriter cuts what is longer.
inline constexpr std::size_t kMaxReason = 4096;

/// The first schema version whose counters are compared: their formulas are the current version's formulas.
inline constexpr std::int64_t kComparedCounters = 9;

/// The first schema version whose statistics follow exactly from the samples. Earlier files may have been shortened: a
/// part of the samples next to the statistics of all samples. These statistics are then in order, and their median is
/// within kShortened of the median of the samples that remain.
inline constexpr std::int64_t kExactStatistics = 9;
inline constexpr double kShortened = 0.25;

/// The first schema version of which the parts of the memory add up.
inline constexpr std::int64_t kWholeSplit = 9;

/// How far two derivations of one number may be apart, relative to it.
inline constexpr double kRuleTolerance = 1e-9;

struct BrokenRule {
  RecordRule rule{};
  std::string problem;  // with the values
};

/// A record or entry that breaks a rule. The message names its place, its case, the rule and the values.
class RuleError : public std::runtime_error {
 public:
  /// @param where  e.g. `benchmarks[3]`
  RuleError(const std::string& where, const CaseId& id, const BrokenRule& broken);
  [[nodiscard]] RecordRule rule() const { return rule_; }

 private:
  RecordRule rule_;
};

/// Whether record_to_json() could write the record: kTime and kRegime.
[[nodiscard]] std::optional<BrokenRule> contradiction_of(const Record& record);

/// The first rule that the record breaks, kTime to kRepetition.
/// @param version  of the schema of its file
[[nodiscard]] std::optional<BrokenRule> broken_rule(const Record& record, std::int64_t version = kSchemaVersion);

/// The first rule that an entry and the record under its `tbench` break together, kName to kCounters. A counter may be
/// missing.
[[nodiscard]] std::optional<BrokenRule> broken_rule(const Json& entry, const Record& record,
                                                    std::int64_t version = kSchemaVersion);

/// @throws  RuleError  for a rule that the record breaks
void check_record(const Record& record, const std::string& where, std::int64_t version = kSchemaVersion);

/// Like check_record, and also checks the rules that a record and its entry break together.
void check_entry(const Json& entry, const Record& record, const std::string& where,
                 std::int64_t version = kSchemaVersion);

/// The runs of cases that one file has: kOnce and kCopy.
class FileRuns {
 public:
  /// @param where  the place of the run, which the message for a later one names, too
  /// @throws       RuleError  for a case and repetition that was added before, or equal samples (samples_digest) of the
  ///                          case; the order of parameters does not matter
  void add(const Record& record, const std::string& where);

 private:
  /// The places of one case's runs.
  struct Case {
    std::unordered_map<std::int64_t, std::string> repetitions;
    std::unordered_map<std::uint64_t, std::string> samples;
  };

  Case& add_to_case(const CaseId& id, std::int64_t repetition, const std::string& where);

  std::unordered_map<std::string, Case> cases_;  // by match_key
};

/// The record with a reason that keeps kReason, for a writer: what went wrong may have told nothing, or too much.
[[nodiscard]] Record with_sound_reason(Record record);

}  // namespace tbench::results

template <>
struct tbench::EnumNames<tbench::results::RecordRule> {
  static constexpr std::array<std::string_view, 15> kNames{
      "time",       "regime",     "reason", "verification", "samples", "flagged_samples",
      "statistics", "least_flop", "memory", "repetition",   "name",    "real_time",
      "counters",   "once",       "copy"};
};
