// A comparison of two builds or two GPUs, case by case: the changes, their sizes and their certainty.
// comparison_output.hpp prints it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/compare/known_spreads.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/units.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/outcome.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::compare {

using results::Outcome;

inline constexpr std::int64_t kMaxReplicates = 100;

/// The least number of replicates per side for a verdict on the time.
inline constexpr std::size_t kMinReplicates = 3;

struct CompareOptions {
  std::optional<double> tau{};  // threshold, 0.02 for 2 %; default: by family and duration
  std::optional<bool> cross{};  // compare without verdicts, as between GPUs; default: if the devices differ
  bool force{};                 // turn objections into warnings
  std::string filter{};         // regular expression that matches anywhere in a case name; empty for all cases
  double false_discovery_rate{0.05};
  /// A case's dispersion between processes, from earlier runs: standard deviation of ln(time), by match_key.
  std::map<std::string, stats::DispersionPrior> known_dispersion{};
  /// Known spreads, for verdicts on cases with too few replicates or from two machines; must outlive the comparison.
  const KnownSpreads* spreads{&built_in_spreads()};
};

/// The measure that determines an outcome.
enum class Measure { kTime, kDeviceTime };

}  // namespace tbench::compare

namespace tbench {

template <>
struct EnumNames<compare::Measure> {
  static constexpr std::array<std::string_view, 2> kNames{"time", "device_time"};
};

}  // namespace tbench

namespace tbench::compare {

/// One side of a case, summarised over its replicates.
struct SideOfCase {
  Status status{};  // the worst status: a failure, then `oom`, then any other status except `ok`
  std::string reason;
  std::size_t replicates{};
  std::size_t of_status{};                 // replicates that have `status`
  std::optional<Seconds> time;             // geometric mean of the medians, over replicates that have a time
  std::optional<double> dispersion;        // relative standard deviation between processes; for one process, see below
  bool dispersion_is_within{};             // for one replicate: dispersion is the half width of its median's interval
  std::optional<Seconds> device_time;      // geometric mean over traced replicates
  std::optional<Hertz> sm_clock;           // geometric mean
  std::optional<std::int64_t> peak_bytes;  // largest; in the allocator's blocks
  std::optional<std::int64_t> requested_peak_bytes;  // largest; bytes that tensors requested
  std::optional<double> peak_share_at_clock;         // mean share of the datasheet's dense rate at the measured clock
  std::optional<double> ceiling_share;               // mean share of the measured ceiling
};

struct CaseComparison {
  CaseId id;
  SideOfCase base;
  SideOfCase next;
  std::optional<double> ratio;                    // ratio of the times, new over base
  std::optional<stats::Interval> ratio_interval;  // 95 %
  bool interval_is_within{};                      // from the dispersion inside one process per side: too narrow
  std::optional<double> p_value;
  std::optional<double> adjusted_p;    // corrected over all cases of the comparison; absent without a test
  std::optional<double> device_ratio;  // ratio of the GPU's times, new over base; absent if either is unknown
  std::optional<stats::Interval> device_ratio_interval;  // 95 %, from the known spread of such cases
  std::optional<double>
      cycle_ratio;  // time x SM clock, new over base; absent if a clock is unknown or the clocks' sources differ
  std::optional<stats::ModeratedTest> time_test;  // of ln(time)
  std::optional<double> device_difference;        // of ln(device time)
  std::optional<double> cycle_difference;         // of ln(cycles)
  double threshold{};                             // tau, as a fraction
  /// The test by known spreads. It determines the outcome if the case has too few replicates for a test of its own, or
  /// comes from two machines. Absent if no spread is known for such cases.
  std::optional<stats::ModeratedTest> known_test;
  std::optional<Measure> judged_by;           // absent if the case has no verdict
  std::optional<SpreadClass> spread_class;    // class of the measure; absent without known_test
  std::optional<double> known_limit;          // 95 % of measurements of equal code differ by less; a fraction
  bool is_time_apart{};                       // verdict by device time, although the time differs beyond known spreads
  bool host_bound{};                          // whether either side is host-bound
  bool by_machines{};                         // whether the sides come from two GPUs of the same model
  std::optional<double> smallest_detectable;  // MDE: minimum detectable effect, a fraction, at least the threshold
  std::optional<Outcome> outcome;             // absent between different GPU models
  std::optional<Outcome> outcome_of_time{};   // outcome without memory; absent if a status decides
  /// The number of replicates per side that would decide an UNDECIDED case, if further replicates vary like these.
  /// Absent if it exceeds kMaxReplicates.
  std::optional<std::int64_t> replicates_to_decide;
  std::string note;  // remarks for the reader that the numbers do not show
};

/// Two peaks in bytes that may be compared.
struct Peaks {
  std::int64_t base{};
  std::int64_t next{};
};
/// Returns the peaks of the bytes that tensors requested if both sides have them. Otherwise returns the peaks in the
/// allocator's blocks, which also depend on earlier cases. Returns nullopt if a side has neither.
[[nodiscard]] std::optional<Peaks> comparable_peaks(const CaseComparison& c);

/// Geometric means over the cases of a family that have a time on both sides.
struct FamilyMean {
  std::string family;
  std::size_t cases{};
  double ratio{};
  std::optional<double> device_ratio;  // over cases traced on both sides
  std::optional<double> cycle_ratio;   // over cases with known clocks
};

struct SideFacts {
  std::vector<std::string> paths;
  std::string device;              // GPU or CPU; empty if no file names it
  std::vector<std::string> uuids;  // UUIDs of the GPUs
  std::string build;               // names of the side's builds, see build_name(), joined by commas
  std::string date;                // start of the first file's run
  std::int64_t cpu_cores{};
  results::RunFlags run;
};

struct Comparison {
  bool cross{};
  std::optional<Apart> apart;  // two processes, or two GPUs of the same model; absent between GPU models, and on a CPU
  SideFacts base;
  SideFacts next;
  std::vector<std::string> differences;  // see differences_of()
  std::vector<std::string> warnings;
  std::vector<std::string> shared_gpus;  // sentences on files that started with other processes on their GPU
  bool one_after_the_other{};            // the sides did not alternate, although the times of some case were tested
  std::vector<CaseComparison> cases;     // cases that both sides have, in the base's order
  std::vector<std::string> only_in_base;
  std::vector<std::string> only_in_next;
  std::vector<FamilyMean> families;
};

/// Compares two sides case by case.
/// @throws  NotComparable  without `force`, if the clock policies differ, a case's work or timing method (regime, L2)
///                         differs, or a side has several devices
/// @throws  UsageError     if the filter is not a regular expression or selects no case, or the sides have no case in
///                         common
[[nodiscard]] Comparison compare(const ComparisonSide& base, const ComparisonSide& next, const CompareOptions& options);

enum class CaseOrder { kFile, kName, kChange, kP };
/// Sorts by name; by change, the largest slowdown first; or by p value, the smallest first. Cases without a change or a
/// p value come last.
void sort_cases(Comparison& comparison, CaseOrder order);

[[nodiscard]] results::OutcomeCounts count_outcomes(const Comparison& comparison);

using results::kExitNotComparable;
using results::kExitRegressed;
using results::kExitUncertain;
/// Returns the exit status of the most severe outcome of a case that fails (case_comparison.hpp, is_failed()). Returns
/// 0 between different GPU models.
[[nodiscard]] int exit_status(const Comparison& comparison, bool strict);

}  // namespace tbench::compare
