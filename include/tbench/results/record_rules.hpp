// The rules for every record and every entry of a results file. Readers refuse a record or entry that breaks a rule: it
// was edited, or written by another program, and conclusions from it would be invalid. An unusual trace, clock or
// amount of memory breaks no rule.
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
  kTime,          // a record has a time exactly if its status has one
  kRegime,        // only sustained steps have wall and drain times, only bursts have burst fields
  kReason,        // every status except `ok` has a reason; a reason has at most kMaxReason bytes
  kVerification,  // a record with a time did not fail its verification
  kSamples,       // a timing has samples, all above 0
  kFlagged,       // the flagged samples exist
  kStatistics,    // the statistics follow from the samples
  kLeastFlop,     // Work::min_flop is at most Work::flop
  kMemory,        // the classes of the peak, and of the bytes that a phase holds, add up to the whole
  kIndexes,       // the indexes of ranges, kernels, names and points exist, and a timeline's lists have the same length
  kRepetition,    // 0 <= index < repetitions
  kName,          // an entry's name is the name of its record's case
  kRealTime,      // an entry's real_time is its record's median
  kCounters,      // an entry's counters follow from its record
  kOnce,          // a file has one record per case and repetition
  kCopy           // no two records of a case in a file have the same samples
};

/// The maximum length of a reason, in bytes. ResultWriter cuts longer reasons.
inline constexpr std::size_t kMaxReason = 4096;

/// The first schema version whose counters are compared with the record. Earlier versions have other formulas.
inline constexpr std::int64_t kComparedCounters = 9;

/// The first schema version whose statistics follow exactly from the samples. Earlier files may have been shortened:
/// they keep some of the samples, and the statistics of all samples. Their statistics must be in order, and the median
/// must be within kShortened, as a fraction, of the median of the remaining samples.
inline constexpr std::int64_t kExactStatistics = 9;
inline constexpr double kShortened = 0.25;

/// The first schema version in which the classes of the memory add up to the whole.
inline constexpr std::int64_t kWholeSplit = 9;

/// The largest permitted difference between a stated number and the derived one, relative to the latter.
inline constexpr double kRuleTolerance = 1e-9;

struct BrokenRule {
  RecordRule rule{};
  std::string problem;  // with the values
};

/// A record or entry that breaks a rule. The message names its position, its case, the rule and the values.
class RuleError : public std::runtime_error {
 public:
  /// @param where  e.g. `benchmarks[3]`
  RuleError(const std::string& where, const CaseId& id, const BrokenRule& broken);
  [[nodiscard]] RecordRule rule() const { return rule_; }

 private:
  RecordRule rule_;
};

/// Returns the rule that the record breaks, kTime or kRegime, or nullopt if it breaks neither. record_to_json() refuses
/// a record that breaks one of them.
[[nodiscard]] std::optional<BrokenRule> contradiction_of(const Record& record);

/// Returns the first rule that the record breaks, from kTime to kRepetition, or nullopt if it breaks none.
/// @param version  schema version of the record's file
[[nodiscard]] std::optional<BrokenRule> broken_rule(const Record& record, std::int64_t version = kSchemaVersion);

/// Returns the first rule that an entry and the record under its `tbench` break together, from kName to kCounters, or
/// nullopt if they break none. An entry may lack counters.
[[nodiscard]] std::optional<BrokenRule> broken_rule(const Json& entry, const Record& record,
                                                    std::int64_t version = kSchemaVersion);

/// Checks the rules from kTime to kRepetition.
/// @param where  position of the record in its file, for the message
/// @throws       RuleError  for the first rule that the record breaks
void check_record(const Record& record, const std::string& where, std::int64_t version = kSchemaVersion);

/// Checks the rules of check_record(), and then the rules for a record and its entry together.
void check_entry(const Json& entry, const Record& record, const std::string& where,
                 std::int64_t version = kSchemaVersion);

/// Checks that a record names one of the machines of its file.
/// @param where  position of the record in its file, for the message
/// @throws       RuleError  kIndexes
void check_machine(const Record& record, const Environment& environment, const std::string& where);

/// The runs of cases in one file, to check the rules kOnce and kCopy.
class FileRuns {
 public:
  /// Adds a run. The order of the case's parameters does not matter.
  /// @param where  position of the run in its file; the message about a later run that contradicts this one names it,
  ///               too
  /// @throws       RuleError  if a run of the same case and repetition, or a run of the case with the same samples
  ///                          (samples_digest()), was added before
  void add(const Record& record, const std::string& where);

 private:
  /// The positions of one case's runs.
  struct Case {
    std::unordered_map<std::int64_t, std::string> repetitions;
    std::unordered_map<std::uint64_t, std::string> samples;
  };

  Case& add_to_case(const CaseId& id, std::int64_t repetition, const std::string& where);

  std::unordered_map<std::string, Case> cases_;  // by match_key()
};

/// Returns the record with a reason that satisfies kReason: replaces an empty reason and cuts a long one.
[[nodiscard]] Record with_sound_reason(Record record);

}  // namespace tbench::results

template <>
struct tbench::EnumNames<tbench::results::RecordRule> {
  static constexpr std::array<std::string_view, 16> kNames{
      "time",   "regime",  "reason",     "verification", "samples",   "flagged_samples", "statistics", "least_flop",
      "memory", "indexes", "repetition", "name",         "real_time", "counters",        "once",       "copy"};
};
