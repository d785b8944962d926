// Known spreads: how much measurements of the same code differ, by kind of case. With one process per side, a
// comparison bases its verdicts on them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/results/measured_case.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::compare {

/// The origin of two measurements that are compared: two processes on one GPU, or two GPUs of the same model.
enum class Apart { kProcesses, kMachines };

/// Classes of measured times that have a spread in common. The time of a step that is not a CUDA graph has a class only
/// if the step was traced.
enum class SpreadClass {
  kKernel,           // a kernel from 100 us on
  kShortKernel,      // a kernel of 10 to 100 us
  kGraph,            // a step as a CUDA graph
  kPowerLimit,       // a graph or a step at the power limit, its device time included
  kStep,             // a step that the host does not limit
  kHostBoundStep,    // a step that the host limits
  kHostBoundDevice,  // the device time of such a step
  kDevice            // the device time of any other step, as a graph or not
};

}  // namespace tbench::compare

namespace tbench {

template <>
struct EnumNames<compare::Apart> {
  static constexpr std::array<std::string_view, 2> kNames{"processes", "machines"};
};

template <>
struct EnumNames<compare::SpreadClass> {
  static constexpr std::array<std::string_view, 8> kNames{
      "kernel", "short_kernel", "graph", "power_limit", "step", "host_bound_step", "host_bound_device", "device"};
};

}  // namespace tbench

namespace tbench::compare {

/// The facts that decide the class of a time.
struct SpreadFacts {
  std::optional<Regime> regime;  // absent if unknown, for cases of several ranks, and for ceilings
  Seconds time;
  bool is_graph{};
  bool is_traced{};
  bool host_bound{};
  bool at_power_limit{};
  bool operator==(const SpreadFacts&) const = default;
};

/// Returns the facts of a replicate.
/// @param replicate  replicate with a time
[[nodiscard]] SpreadFacts spread_facts(const CaseId& id, const results::Replicate& replicate);

/// Returns the facts of a pair of measurements. The pair is traced if both are, and limited by the host or by power if
/// either is. Its regime is absent if the two differ. Its time is the geometric mean.
[[nodiscard]] SpreadFacts of_both(const SpreadFacts& a, const SpreadFacts& b);

/// Returns the class of a measured time, or nullopt if no spread is known for it. None is known for kernels under 10
/// us, host-bound bursts, steps that are not CUDA graphs and were not traced, and cases of several ranks. None is known
/// for ceilings either, which depend on the machine and not on the code.
[[nodiscard]] std::optional<SpreadClass> class_of_time(const SpreadFacts& facts);
/// Returns the class of a step's device time, or nullopt unless the facts describe a traced step.
[[nodiscard]] std::optional<SpreadClass> class_of_device_time(const SpreadFacts& facts);

/// The degrees of freedom that a test gives to a known spread.
inline constexpr double kSpreadFreedom = 6;

/// The numbers of pairs and cells that a class needs for a limit of its own. With fewer, it borrows its neighbour's
/// limit.
inline constexpr std::int64_t kMinPairs = 8;
inline constexpr std::size_t kMinCells = 4;

struct KnownDispersion {
  double limit{};        // 95 % of pairs differ by less in ln(time)
  std::int64_t pairs{};  // number of pairs that the limit follows from
  std::int64_t cells{};  // number of cells of equal weight: a case on one GPU and build, or on GPUs of the same model
  std::string borrowed;  // `step of machines`: source of a borrowed limit; empty if the limit is its own

  /// Returns the prior with which two measurements, one per side, differ significantly if they differ by `limit` or
  /// more.
  [[nodiscard]] stats::DispersionPrior prior() const;
  bool operator==(const KnownDispersion&) const = default;
};

/// A case that one process measured, as a spreads file stores it. Later measurements can form pairs with it.
struct SpreadSample {
  std::string key;    // match_key
  std::string gpu;    // model
  std::string uuid;   // UUID of the GPU
  std::string build;  // digest of the sources
  std::string way;    // settings of the measurement, and versions of the libraries
  bool is_stock{};    // whether its kernels come from the libraries, so that they do not depend on the build
  SpreadFacts facts;
  std::optional<Seconds> device_time;
  bool operator==(const SpreadSample&) const = default;
};

/// The known spreads of classes, and of the cases that spread more than their class.
class KnownSpreads {
 public:
  using ClassKey = std::pair<SpreadClass, Apart>;
  using CaseKey = std::tuple<std::string, SpreadClass, Apart>;  // match_key, class, kind of pair

  std::vector<std::string> gpus;  // GPU models on which the spreads were measured
  std::string excluded;           // regular expression that matches the files that were left out
  std::map<ClassKey, KnownDispersion> classes;
  std::map<CaseKey, KnownDispersion> cases;
  std::vector<SpreadSample> samples;  // the samples behind the spreads; empty unless pairs may be added

  /// Returns the case's own spread if it is known, else the spread of its class. Returns nullopt if neither is known.
  [[nodiscard]] std::optional<KnownDispersion> find(const std::string& key, SpreadClass of, Apart apart) const;

  /// Adds the spreads of `own` that are not borrowed. They replace spreads of the same class or case.
  void put_over(const KnownSpreads& own);

  bool operator==(const KnownSpreads&) const = default;
};

/// The spreads that the program was built with: src/compare/known_spreads.json.
[[nodiscard]] const KnownSpreads& built_in_spreads();

inline constexpr std::string_view kSpreadSchema = "tbench.known_spreads/1";

/// Returns the JSON of a spreads file.
/// @throws  std::invalid_argument  for a number that is not finite
[[nodiscard]] results::Json spreads_to_json(const KnownSpreads& spreads);

/// Parses a file of known spreads.
/// @param name  the file's name, for error messages
/// @throws      UsageError  if the text is not JSON or has another schema, an unknown class or a limit that is not
///                          above 0. The message names the file, the value and the remedy
[[nodiscard]] KnownSpreads parse_spreads(std::string_view text, const std::string& name);

/// Reads a file of known spreads.
/// @throws  UsageError  if the file cannot be read, or as parse_spreads()
[[nodiscard]] KnownSpreads read_spreads(const std::string& path);

}  // namespace tbench::compare
