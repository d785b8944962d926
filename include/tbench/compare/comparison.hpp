// Two builds, or two GPUs, case by case: what changed, by how much, and how sure that is. comparison_output.hpp prints
// it.
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

/// Replicates that a verdict on the time needs, on either side.
inline constexpr std::size_t kMinReplicates = 3;

struct CompareOptions {
  std::optional<double> tau{};  // threshold, 0.02 for 2 %; absent: by family and length
  std::optional<bool> cross{};  // without verdicts, as between GPUs; absent: if the devices differ
  bool force{};                 // turn objections into warnings
  std::string filter{};         // regular expression that matches anywhere in a case name; empty: all cases
  double false_discovery_rate{0.05};
  /// A case's dispersion between processes, from earlier runs: standard deviation of ln(time), by match_key.
  std::map<std::string, stats::DispersionPrior> known_dispersion{};
  /// The spreads that judge cases without enough replicates, and cases of two machines; outlives the comparison.
  const KnownSpreads* spreads{&built_in_spreads()};
};

/// The measure that an outcome follows from.
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
  Status status{};  // the worst: a failure, then `oom`, then another one that is not `ok`
  std::string reason;
  std::size_t replicates{};
  std::size_t of_status{};                 // replicates that have `status`
  std::optional<Seconds> time;             // geometric mean of the replicates' medians, of those that have a time
  std::optional<double> dispersion;        // relative standard deviation between processes; of one process, see below
  bool dispersion_is_within{};             // of one replicate: half width of its median's 95 % interval
  std::optional<Seconds> device_time;      // geometric mean, of those that were traced
  std::optional<Hertz> sm_clock;           // geometric mean
  std::optional<std::int64_t> peak_bytes;  // largest; in the allocator's blocks
  std::optional<std::int64_t> requested_peak_bytes;  // largest; that tensors asked for
  std::optional<double> peak_share_at_clock;         // mean share of the datasheet's dense rate at the measured clock
  std::optional<double> ceiling_share;               // mean share of the measured ceiling
};

struct CaseComparison {
  CaseId id;
  SideOfCase base;
  SideOfCase next;
  std::optional<double> ratio;                    // of the times, new over base
  std::optional<stats::Interval> ratio_interval;  // 95 %
  bool interval_is_within{};                      // from the dispersion inside one process per side: too narrow
  std::optional<double> p_value;
  std::optional<double> adjusted_p;    // over all cases of the comparison; absent where no test was made
  std::optional<double> device_ratio;  // of the GPU's times, new over base; absent where one is unknown
  std::optional<stats::Interval> device_ratio_interval;  // 95 %, by what is known of such cases
  std::optional<double>
      cycle_ratio;  // time x SM clock, new over base; absent where a clock is unknown, or read otherwise
  std::optional<stats::ModeratedTest> time_test;  // of ln(time)
  std::optional<double> device_difference;        // of ln(device time)
  std::optional<double> cycle_difference;         // of ln(cycles)
  double threshold{};                             // tau, as a fraction
  /// The test by known spreads, from which the outcome follows where a case has too few replicates for a test of its
  /// own, or is of two machines. Absent where no spread is known of such cases.
  std::optional<stats::ModeratedTest> known_test;
  std::optional<Measure> judged_by;           // absent: the case is not judged
  std::optional<SpreadClass> spread_class;    // of the measure; absent without known_test
  std::optional<double> known_limit;          // 95 % of measurements of one code differ by less; a fraction
  bool is_time_apart{};                       // judged by its device time; its time differs by more than is known
  bool host_bound{};                          // on either side
  bool by_machines{};                         // the sides are of two GPUs of one model
  std::optional<double> smallest_detectable;  // MDE: minimum detectable effect, a fraction, at least the threshold
  std::optional<Outcome> outcome;             // absent between different GPUs
  /// UNDECIDED: so many replicates a side would decide, if they differ as these do; at most
  /// kMaxReplicates, else absent.
  std::optional<std::int64_t> replicates_to_decide;
  std::string note;  // what the numbers do not show, for a reader
};

/// Two peaks in bytes that may be compared.
struct Peaks {
  std::int64_t base{};
  std::int64_t next{};
};
/// Peaks of what tensors asked for, where both sides know it, else of the allocator's blocks, which differ for equal
/// tensors by what ran before. Nothing where a side knows neither.
[[nodiscard]] std::optional<Peaks> comparable_peaks(const CaseComparison& c);

/// Geometric means over those cases of a family that have a time on both sides.
struct FamilyMean {
  std::string family;
  std::size_t cases{};
  double ratio{};
  std::optional<double> device_ratio;  // over those that were traced on both sides
  std::optional<double> cycle_ratio;   // over those with known clocks
};

struct SideFacts {
  std::vector<std::string> paths;
  std::string device;              // GPU or CPU; empty if no file says
  std::vector<std::string> uuids;  // of the GPUs
  std::string build;               // names of its builds, see build_name(), joined by commas
  std::string date;                // of the first file's begin
  std::int64_t cpu_cores{};
  results::RunFlags run;
};

struct Comparison {
  bool cross{};
  std::optional<Apart> apart;  // two processes, or two GPUs of one model; absent between GPU models, and on a CPU
  SideFacts base;
  SideFacts next;
  std::vector<std::string> differences;  // as differences_of()
  std::vector<std::string> warnings;
  std::vector<std::string> shared_gpus;  // files that began with other processes on their GPU, in sentences
  bool one_after_the_other{};            // the sides did not take turns, although the times of some case were tested
  std::vector<CaseComparison> cases;     // of both sides, in the base's order
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
/// Sorts by name; by change, the largest slowdown first; or by p value, the smallest first. Cases without one come
/// last.
void sort_cases(Comparison& comparison, CaseOrder order);

[[nodiscard]] results::OutcomeCounts count_outcomes(const Comparison& comparison);

using results::kExitNotComparable;
using results::kExitRegressed;
using results::kExitUncertain;
/// The gravest outcome's exit status; kExitUncertain with `strict` alone. Between different GPUs always 0.
[[nodiscard]] int exit_status(const Comparison& comparison, bool strict);

}  // namespace tbench::compare
