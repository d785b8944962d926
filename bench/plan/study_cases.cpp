#include "bench/plan/study_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/core/text.hpp"
#include "tbench/model/plugins.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::bench {
namespace {

/// Returns the known values of a key; empty for a key that takes any number, and for an unknown family or key.
std::vector<std::string> known_values(std::span<const FamilySpec> families, const std::string& family,
                                      const std::string& key) {
  const auto spec = std::ranges::find(families, family, &FamilySpec::name);
  if (spec == families.end()) return {};
  const auto found = std::ranges::find(spec->keys, key, &KeySpec::key);
  return found == spec->keys.end() ? std::vector<std::string>{} : found->known;
}

/// Returns the family's implementations that come from --tb_plugin.
std::vector<std::string> plugins_of(std::span<const FamilySpec> families, const std::string& family) {
  std::vector<std::string> names = known_values(families, family, "impl");
  std::erase_if(names, [](const std::string& impl) { return model::find_plugin(impl) == nullptr; });
  return names;
}

/// Returns the study with the values that this program has.
studies::Study known_part(const studies::Study& whole, std::span<const FamilySpec> families, bool has_gpu) {
  const studies::Study known = studies::with_known_values(
      studies::for_device(whole, has_gpu), [&](const std::string& family, const CaseId::Parameter& value) {
        const std::vector<std::string> values = known_values(families, family, value.first);
        return std::ranges::find(values, value.second) != values.end();
      });
  const studies::Study joined =
      studies::with_plugins(known, [&](const std::string& family) { return plugins_of(families, family); });
  return studies::with_open_axes(
      joined, [&](const std::string& family, const std::string& key) { return known_values(families, family, key); });
}

/// Returns the value of --tb_study that measures the study: the name of its write-up, or else its own name.
std::string source_of(const studies::Study& study) {
  return study.measured_by.empty() ? study.name : study.measured_by;
}

/// Returns `5 warm-up and 10 timed steps`, where `as many as needed` stands for a count that the sampler chooses.
std::string steps_of(const studies::StudyProtocol& protocol) {
  constexpr const char* kChosen = "as many as needed";
  if (!protocol.warm_up && !protocol.samples) return fmt::format("{} of both steps", kChosen);
  const auto text = [&](const auto& count) { return count ? fmt::format("{}", *count) : std::string{kChosen}; };
  return fmt::format("{} warm-up and {} timed steps", text(protocol.warm_up), text(protocol.samples));
}

/// A protocol, and the study or write-up that gave it to a case.
struct Given {
  const studies::StudyProtocol& protocol;
  std::string by;
};

UsageError two_protocols(const Given& one, const Given& other, const CaseId& id, const Options& options) {
  return UsageError{fmt::format(
      "--tb_study={}: {} gives a case {}, {} {} (first: '{}'). Run one after the other, or give both counts "
      "for all: --tb_warmup=N --tb_samples=N.",
      options.study, one.by, steps_of(one.protocol), other.by, steps_of(other.protocol), id.name())};
}

/// Adds a study's protocol to the protocol that an earlier study gave to the case. A trace that one of them needs is
/// taken for both.
void merge(studies::StudyProtocol& earlier, const studies::StudyProtocol& other) {
  earlier.needs_trace = earlier.needs_trace || other.needs_trace;
  earlier.verify_once = earlier.verify_once && other.verify_once;
  earlier.without_trace = earlier.without_trace && other.without_trace;
  earlier.needs_timelines = earlier.needs_timelines || other.needs_timelines;
}

/// Refuses a change of an axis that none of the studies has, because it has no effect.
/// @param grids  grids of all studies
void check_axes(const Options& options, std::span<const FamilyGrid> grids) {
  for (const auto& [family, axis] : options.axes) {
    std::vector<std::string> keys;  // of the family
    for (const FamilyGrid& grid : grids) {
      if (grid.family != family) continue;
      for (const Axis& own : grid.axes) {
        if (std::ranges::find(keys, own.key) == keys.end()) keys.push_back(own.key);
      }
    }
    if (std::ranges::find(keys, axis.key) != keys.end()) continue;
    throw UsageError{fmt::format("--tb_axis={}.{}: the study {} has no such axis ({}). Leave it out, or run a suite.",
                                 family, axis.key, options.study,
                                 keys.empty() ? "it has no cases of " + family : "axes: " + join(keys, ", "))};
  }
}

}  // namespace

StudyCases study_cases(std::span<const FamilySpec> families, const Options& options, bool has_gpu) {
  StudyCases all;
  std::map<std::string, std::string> sources;  // by case name
  const auto agree = [](bool is_given, const auto& one, const auto& other) { return is_given || one == other; };
  std::vector<FamilyGrid> grids;
  const studies::Writeup writeup = studies::find_writeup(options.study, "--tb_study");
  for (const studies::Study& whole : writeup.studies()) {
    const studies::Study study = known_part(whole, families, has_gpu);
    grids.insert(grids.end(), whole.grids.begin(), whole.grids.end());
    grids.insert(grids.end(), study.grids.begin(), study.grids.end());
    const std::vector<CaseId> cases = expand(families, studies::grids_with_sizes(study, options.sizes), options.axes);
    if (cases.empty()) {
      throw UsageError{fmt::format("--tb_study={}: {} need several ranks, and this is one process", options.study,
                                   options.study == study.name ? "its cases" : "the cases of " + study.name)};
    }
    for (const CaseId& id : study.beside) {
      if (is_ceiling(id) && std::ranges::find(all.ceilings, id) == all.ceilings.end()) all.ceilings.push_back(id);
    }
    for (const CaseId& id : cases) {
      const auto [entry, is_new] = all.protocols.emplace(id.name(), study.protocol);
      sources.emplace(id.name(), source_of(study));
      if (is_new) {
        all.cases.push_back(id);
        continue;
      }
      studies::StudyProtocol& earlier = entry->second;
      if (!agree(options.fixed_warm_up.has_value(), earlier.warm_up, study.protocol.warm_up) ||
          !agree(options.fixed_samples.has_value(), earlier.samples, study.protocol.samples)) {
        throw two_protocols({earlier, sources.at(id.name())}, {study.protocol, source_of(study)}, id, options);
      }
      merge(earlier, study.protocol);
    }
  }
  check_axes(options, grids);
  return all;
}

studies::StudyProtocol protocol_of(const StudyProtocols& protocols, const CaseId& id) {
  const auto found = protocols.find(id.name());
  return found == protocols.end() ? studies::StudyProtocol{} : found->second;
}

studies::StudyProtocol common_protocol(const StudyProtocols& protocols) {
  if (protocols.empty()) return {};
  const auto counts_of = [](studies::StudyProtocol protocol) {
    protocol.needs_trace = protocol.without_trace = protocol.needs_timelines = false;
    return protocol;
  };
  const studies::StudyProtocol first = counts_of(protocols.begin()->second);
  const bool is_common =
      std::ranges::all_of(protocols, [&](const auto& one) { return counts_of(one.second) == first; });
  return is_common ? first : studies::StudyProtocol{};
}

}  // namespace tbench::bench
