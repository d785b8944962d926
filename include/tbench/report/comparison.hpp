// Two builds, or two GPUs, case by case: what changed, by how much, and how sure that is. How it is printed is
// comparison_page.hpp's and comparison_export.hpp's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/statistics.hpp"
#include "tbench/core/status.hpp"
#include "tbench/core/units.hpp"
#include "tbench/report/comparison_input.hpp"

namespace tbench::report {

/// What is said of a case.
enum class Verdict {
  kRegressed,     // slower, in clock cycles too, by more than the threshold; or more memory; or `ok` no longer
  kImproved,      // the mirror image
  kClock,         // the time moved, the clock cycles did not
  kAmbiguous,     // none of the others: more replicates would tell
  kInsufficient,  // fewer than 3 replicates on a side
  kInvalid,       // a side is not `ok`
  kSame           // the change is certainly smaller than the threshold
};
inline constexpr std::array kAllVerdicts{Verdict::kRegressed, Verdict::kImproved,     Verdict::kClock,
                                         Verdict::kAmbiguous, Verdict::kInsufficient, Verdict::kInvalid,
                                         Verdict::kSame};

/// REGRESSED, IMPROVED, CLOCK, AMBIGUOUS, INSUFFICIENT, INVALID, SAME.
[[nodiscard]] std::string_view to_string(Verdict verdict);

/// Replicates that a verdict on the time needs, on either side.
inline constexpr std::size_t kLeastReplicates = 3;

struct CompareOptions {
  std::optional<double> tau{};  // threshold, 0.02 for 2 %; nothing: by family and length
  std::optional<bool> cross{};  // without verdicts, as between GPUs; nothing: if the devices differ
  bool force{};                 // compare what should not be compared, with warnings
  std::string filter{};         // regular expression on case names, found anywhere; empty: all
  double false_discovery_rate{0.05};
  /// A case's spread of ln(time) between processes from comparisons of a build with itself, by match_key.
  std::map<std::string, double> known_spread{};
};

/// One side of a case, over its replicates.
struct SideOfCase {
  Status status{};  // the worst: a failure, then `oom`, then another one that is not `ok`
  std::string reason;
  std::size_t replicates{};
  std::size_t of_status{};                 // replicates that have `status`
  std::optional<Seconds> time;             // geometric mean of the replicates' medians, of those that have a time
  std::optional<double> spread;            // relative: standard deviation between processes; of one, see below
  bool spread_is_within{};                 // of one replicate: half width of its median's 95 % interval
  std::optional<Hertz> sm_clock;           // geometric mean
  std::optional<std::int64_t> peak_bytes;  // largest
  std::optional<double> ceiling_share;     // mean
};

struct CaseComparison {
  CaseId id;
  SideOfCase base;
  SideOfCase next;
  std::optional<double> ratio;             // of the times, new over base
  std::optional<Interval> ratio_interval;  // 95 %
  bool interval_is_within{};               // from the spread inside one process a side: too narrow
  std::optional<double> p_value;
  std::optional<double> adjusted_p;           // over all cases of the comparison; absent where no test was made
  std::optional<double> cycle_ratio;          // time x SM clock, new over base; absent where a clock is unknown
  double threshold{};                         // tau, as a fraction
  std::optional<double> smallest_detectable;  // change, as a fraction, at least the threshold
  std::optional<Verdict> verdict;             // absent between different GPUs
  std::string note;                           // what the numbers do not tell, for a person
};

/// Geometric means over the cases of a family that have a time on both sides.
struct FamilyMean {
  std::string family;
  std::size_t cases{};
  double ratio{};
  std::optional<double> cycle_ratio;  // over those with known clocks
};

struct SideFacts {
  std::vector<std::string> paths;
  std::string device;  // GPU or CPU; empty where no file tells
};

struct Comparison {
  bool cross{};
  SideFacts base;
  SideFacts next;
  std::vector<std::string> differences;  // between the environments: "driver: 580.1 against 590.2"
  std::vector<std::string> warnings;
  std::vector<CaseComparison> cases;  // of both sides, in the base's order
  std::vector<std::string> only_in_base;
  std::vector<std::string> only_in_next;
  std::vector<FamilyMean> families;
};

/// @throws  NotComparable  without `force`: another clock policy; other work of the same case, or a time taken in
///                         another way (regime, L2); several devices on one side
/// @throws  UsageError     for a filter that is no regular expression or that no case passes; for two sides without a
///                         common case
[[nodiscard]] Comparison compare(const ComparisonSide& base, const ComparisonSide& next, const CompareOptions& options);

enum class CaseOrder { kFile, kName, kChange, kP };
/// By name; by change, the largest slowdown first; by p value, the smallest first. Cases without one come last.
void sort_cases(Comparison& comparison, CaseOrder order);

[[nodiscard]] std::map<Verdict, std::size_t> count_verdicts(const Comparison& comparison);

inline constexpr int kExitRegressed = 1;
inline constexpr int kExitNotComparable = 3;
inline constexpr int kExitUncertain = 4;
/// 0, kExitRegressed, or with `strict` kExitUncertain where a case is ambiguous or insufficient. Between different GPUs
/// always 0.
[[nodiscard]] int exit_status(const Comparison& comparison, bool strict);

}  // namespace tbench::report
