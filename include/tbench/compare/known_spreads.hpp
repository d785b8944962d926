// The distance between measurements of the same code, by kind of case, with which a comparison judges one process per
// side.
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

/// How two measurements of a case are apart: two processes on one GPU, or two GPUs of one model.
enum class Apart { kProcesses, kMachines };

/// Kinds of measured times that spread alike. Times of steps are known where the steps were traced.
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
  std::optional<Regime> regime;  // absent where that is unknown, for cases of several ranks and ceilings
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

/// Facts of a pair: of one regime, traced if both are, limited by the host or by power if either is. The time is the
/// geometric mean.
[[nodiscard]] SpreadFacts of_both(const SpreadFacts& a, const SpreadFacts& b);

/// Nothing for what no spread is known of: kernels under 10 us, bursts that their host limits, steps that were not
/// traced, cases of several ranks, ceilings, which tell of the machine and not of code.
[[nodiscard]] std::optional<SpreadClass> class_of_time(const SpreadFacts& facts);
/// Returns the class of a step's device time, or nullopt unless the facts describe a traced step.
[[nodiscard]] std::optional<SpreadClass> class_of_device_time(const SpreadFacts& facts);

/// Degrees of freedom of a known spread in a test.
inline constexpr double kSpreadFreedom = 6;

/// Pairs, and cells, that a class needs to be known from itself; with fewer it borrows from its neighbour.
inline constexpr std::int64_t kMinPairs = 8;
inline constexpr std::size_t kMinCells = 4;

struct KnownDispersion {
  double limit{};        // 95 % of pairs differ by less, of ln(time)
  std::int64_t pairs{};  // that it is known from
  std::int64_t cells{};  // cases on a GPU by a build, or on GPUs of one model, each of which counts once
  std::string borrowed;  // `step of machines`, where it is borrowed from; empty: it is its own

  /// Makes 1+1 measurements differ significantly from `limit` on.
  [[nodiscard]] stats::DispersionPrior prior() const;
  bool operator==(const KnownDispersion&) const = default;
};

/// A case that one process measured, as a spreads file keeps it so that pairs can be added to it.
struct SpreadSample {
  std::string key;    // match_key
  std::string gpu;    // model
  std::string uuid;   // of the GPU
  std::string build;  // digest of the sources
  std::string way;    // how it was measured, with the versions of the libraries
  bool is_stock{};    // its kernels are the libraries', whatever the build
  SpreadFacts facts;
  std::optional<Seconds> device_time;
  bool operator==(const SpreadSample&) const = default;
};

/// Classes, and the cases that do not spread as their class does.
class KnownSpreads {
 public:
  using ClassKey = std::pair<SpreadClass, Apart>;
  using CaseKey = std::tuple<std::string, SpreadClass, Apart>;  // match_key, class, kind of pair

  std::vector<std::string> gpus;  // models that it is known from
  std::string excluded;           // regular expression of files that were left out
  std::map<ClassKey, KnownDispersion> classes;
  std::map<CaseKey, KnownDispersion> cases;
  std::vector<SpreadSample> samples;  // that they were made of; empty unless pairs may be added

  /// Returns the case's own spread, else the spread of its class.
  [[nodiscard]] std::optional<KnownDispersion> find(const std::string& key, SpreadClass of, Apart apart) const;

  /// Replaces spreads by the spreads of `own` that are not borrowed.
  void put_over(const KnownSpreads& own);

  bool operator==(const KnownSpreads&) const = default;
};

/// The spreads that the program was built with: src/compare/known_spreads.json.
[[nodiscard]] const KnownSpreads& built_in_spreads();

inline constexpr std::string_view kSpreadSchema = "tbench.known_spreads/1";

/// @throws  std::invalid_argument  for a number that is not finite
[[nodiscard]] results::Json spreads_to_json(const KnownSpreads& spreads);

/// Parses a file of known spreads.
/// @param name  the file's name, for error messages
/// @throws      UsageError  if the text is not JSON or has another schema, an unknown class or a limit that is not
///                          above 0. The message names the file, the value and the remedy
[[nodiscard]] KnownSpreads parse_spreads(std::string_view text, const std::string& name);

/// @throws  UsageError  as read_text and parse_spreads
[[nodiscard]] KnownSpreads read_spreads(const std::string& path);

}  // namespace tbench::compare
