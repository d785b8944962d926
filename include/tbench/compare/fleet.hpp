// Compares GPUs of the same model by the rates of their Ceiling cases, to find a GPU that is slower than the others.
// The output is a terminal table or Markdown for people, and JSON for programs. Later comparisons can read known
// spreads from the JSON.
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

/// A resource of a GPU. Healthy GPUs of the same model differ more in some resources than in others. Matrix products on
/// tensor cores draw the most power, so that their rate follows each GPU's clock at the power limit. The other
/// resources run at the same clock on all GPUs. Ceilings that the host limits (dispatch, pageable copies) belong to no
/// resource.
enum class Resource { kTensor, kFloat32, kMemory, kL2, kLink, kLaunch };

/// Returns the resource of a ceiling, or nullopt if the ceiling is not a limit of the GPU itself.
/// @param what  value of the Ceiling family's key `what`
[[nodiscard]] std::optional<Resource> resource_of(std::string_view what);

/// The dispersion of ln(rate) between healthy GPUs of a model, in one resource.
struct ResourceDispersion {
  std::string gpu;  // model
  Resource resource{};
  stats::DispersionPrior spread;
};

/// Returns the spreads measured for this project, on the machines of bench/results.
[[nodiscard]] std::span<const ResourceDispersion> recorded_spreads();

struct FleetOptions {
  /// The probability that some GPU of a healthy fleet is reported as slow, over all resources together.
  double false_alarms{0.01};
  std::vector<ResourceDispersion> known{};  // the first entry for a model and resource counts
};

struct Machine {
  std::string name;  // the GPU's UUID; the file's label if the results are anonymous
  std::vector<std::string> files;
};

/// A machine's state in a resource, compared with the baseline: the other machines that are not outliers.
struct BaselineState {
  double change{};  // relative change of the rate: -0.03 is 3 % slower
  double score{};   // logarithmic change divided by its standard error
  bool is_slow{};   // slower than chance explains
  bool is_fast{};   // faster than chance explains: no alarm, but excluded from the baseline
};

struct FleetResource {
  Resource resource{};
  std::vector<std::string> ceilings;                 // ceilings that at least three machines have
  std::vector<std::optional<BaselineState>> states;  // by machine; absent if it has none of the ceilings
  std::size_t machines{};                            // number of machines with a state
  double spread{};                                   // standard deviation of ln(rate), including the known spread
  double degrees_of_freedom{};
  std::optional<stats::DispersionPrior> known;
  bool known_rejected{};  // whether the fleet's dispersion contradicts the known spread, which is then ignored
  double detectable{};    // a GPU that is slower by this share of its rate is found nine times in ten
};

struct Fleet {
  std::string gpu;
  double false_alarms{};
  std::vector<Machine> machines;         // in the order in which they first appear
  std::vector<FleetResource> resources;  // resources that at least three machines have, in the order of Resource
  std::vector<std::string> warnings;     // settings and builds that differ, and machines without ceilings
};

/// Compares the machines in each resource. A machine's time of a ceiling is the median over all its processes and
/// files. Its state in a resource is the mean over the ceilings, each compared with the other machines that have it.
/// @throws  NotComparable  if the GPU models, SM counts, MIG modes or clock policies differ
/// @throws  UsageError     for CPU results, for a merged file whose records do not name their GPUs, or if no three
/// machines have a ceiling
///                         of a resource in common
[[nodiscard]] Fleet compare_fleet(std::span<const results::NamedResults> files, const FleetOptions& options);

/// Returns whether any machine is slow in any resource.
[[nodiscard]] bool has_slow(const Fleet& fleet);

// fleet_output.cpp

/// Returns a summary such as `8 machines: GPU-0123abcd slow in memory`.
[[nodiscard]] std::string fleet_summary(const Fleet& fleet);

/// Renders the summary, a row per machine, and a row per resource with the smallest slowdown that would be detected.
[[nodiscard]] std::string fleet_page(const Fleet& fleet, const render::PageOptions& options);

/// Returns SLOW or SOUND, the reasons, and the command that measures a slow GPU again on its machine.
[[nodiscard]] results::Conclusion fleet_conclusion(const Fleet& fleet);

/// Returns the conclusion, everything in the struct, and its summary.
[[nodiscard]] results::Json fleet_to_json(const Fleet& fleet);

/// Reads the spreads from a file with the output of fleet_to_json().
/// @throws  UsageError  naming the file, the problem and the remedy
[[nodiscard]] std::vector<ResourceDispersion> read_known_spreads(const std::string& path);

}  // namespace tbench::compare

template <>
struct tbench::EnumNames<tbench::compare::Resource> {
  static constexpr std::array<std::string_view, 6> kNames{"tensor", "float32", "memory", "l2", "link", "launch"};
};
