// GPUs of one model side by side, by what their Ceiling cases reached: which of them is slower than its like. For
// people it is a table in a terminal or Markdown, for programs JSON, which later fleets take what they know from.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/enums.hpp"
#include "tbench/render/page.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::compare {

/// A resource of a GPU, by how healthy specimens differ in it. Products on tensor cores draw the most power, so that
/// their rate follows each specimen's clock at the power limit; the other resources run at the same clock in all.
/// Ceilings that the host decides (dispatch, pageable copies) belong to none.
enum class Resource { kTensor, kFloat32, kMemory, kL2, kLink, kLaunch };

/// Returns the resource of a ceiling; nothing for a ceiling that is not the GPU's own.
/// @param what  of the Ceiling family
[[nodiscard]] std::optional<Resource> resource_of(std::string_view what);

/// How much healthy GPUs of a model differ in a resource: ln of their rates.
struct ResourceDispersion {
  std::string gpu;  // model
  Resource resource{};
  stats::DispersionPrior spread;
};

/// Returns the spreads measured for this project, on the machines of bench/results.
[[nodiscard]] std::span<const ResourceDispersion> recorded_spreads();

struct FleetOptions {
  /// The probability that a fleet of sound GPUs has a GPU called slow, over all resources together.
  double false_alarms{0.01};
  std::vector<ResourceDispersion> known{};  // of one model and resource the first counts
};

struct Machine {
  std::string name;  // the GPU's UUID; of anonymous results the file's label
  std::vector<std::string> files;
};

/// A machine's state in a resource against the baseline: the others that are no outliers.
struct BaselineState {
  double change{};  // of the rate, relative: -0.03 is 3 % slower
  double score{};   // ln of that, over its standard error
  bool is_slow{};   // too slow for chance
  bool is_fast{};   // too fast for chance: no alarm, but the others are not measured by it
};

struct FleetResource {
  Resource resource{};
  std::vector<std::string> ceilings;                 // that at least three machines have
  std::vector<std::optional<BaselineState>> states;  // by machine; absent where it has none of them
  std::size_t machines{};                            // that have one
  double spread{};                                   // standard deviation of ln(rate), what is known included
  double degrees_of_freedom{};
  std::optional<stats::DispersionPrior> known;
  bool known_rejected{};  // this fleet differs by more: what is known did not count
  double detectable{};    // a GPU that is slower by this share of its rate is found nine times in ten
};

struct Fleet {
  std::string gpu;
  double false_alarms{};
  std::vector<Machine> machines;         // in the order in which they first appear
  std::vector<FleetResource> resources;  // that at least three machines have, in the order of Resource
  std::vector<std::string> warnings;     // settings and builds that differ, files and machines that say nothing
};

/// A ceiling of a machine is the median over all its processes and files; a resource of a machine is its mean over the
/// ceilings, each against the machines that have it.
/// @throws  NotComparable  for several models, MIG slices, or clock policies
/// @throws  UsageError     for results of a CPU; a merged file of several GPUs; fewer than three machines with a common
///                         ceiling
[[nodiscard]] Fleet compare_fleet(std::span<const results::NamedResults> files, const FleetOptions& options);

/// Whether a machine is slow in a resource.
[[nodiscard]] bool has_slow(const Fleet& fleet);

// fleet_output.cpp

/// E.g. `8 machines: GPU-0123abcd slow in memory`.
[[nodiscard]] std::string fleet_summary(const Fleet& fleet);

/// Renders a row per machine, a row per resource with the difference that it can find, and the summary.
[[nodiscard]] std::string fleet_page(const Fleet& fleet, const render::PageOptions& options);

/// SLOW or SOUND, why, and the command that measures a slow GPU again, on its machine.
[[nodiscard]] results::Conclusion fleet_conclusion(const Fleet& fleet);

/// Returns the conclusion, everything in the struct, and its summary.
[[nodiscard]] results::Json fleet_to_json(const Fleet& fleet);

/// The spreads of a file that fleet_to_json made.
/// @throws  UsageError  naming the file, the problem and the remedy
[[nodiscard]] std::vector<ResourceDispersion> read_known_spreads(const std::string& path);

}  // namespace tbench::compare

template <>
struct tbench::EnumNames<tbench::compare::Resource> {
  static constexpr std::array<std::string_view, 6> kNames{"tensor", "float32", "memory", "l2", "link", "launch"};
};
