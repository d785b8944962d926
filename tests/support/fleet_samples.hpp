// Makes results of GPUs that differ as real ones do.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/compare/fleet.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::support {

/// Returns the ceilings of a GPU's run, for each resource.
inline std::vector<CaseId> fleet_ceilings() {
  std::vector<CaseId> cases;
  for (const char* what : {"copy", "read", "write", "l2_read", "launch", "event"}) {
    cases.push_back(CaseId{"Ceiling", {{"what", what}, {"regime", "burst"}}});
  }
  for (const char* what : {"gemm_fp32", "gemm_tf32", "gemm_bf16", "gemm_fp16", "gemm_fp8_e4m3"}) {
    for (const char* regime : {"burst", "sustained"}) {
      cases.push_back(CaseId{"Ceiling", {{"what", what}, {"regime", regime}}});
    }
  }
  for (const char* what : {"h2d_pinned", "d2h_pinned", "dispatch", "h2d_pageable"}) {
    cases.push_back(CaseId{"Ceiling", {{"what", what}, {"regime", "sustained"}}});
  }
  return cases;
}

/// Returns the results file of one GPU.
/// @param slower  logarithm of the ratio of its times to the usual ones, by ceiling
inline results::NamedResults gpu_file(int number, const std::function<double(const CaseId&)>& slower) {
  results::NamedResults one{"gpu" + std::to_string(number) + ".json", {}};
  one.file.environment = gpu_environment();
  one.file.environment.gpu->uuid = "GPU-" + std::to_string(10000000 + number) + "-0000";
  for (const CaseId& id : fleet_ceilings()) {
    one.file.records.push_back(timed_record(id, Seconds{0.001 * std::exp(slower(id))}));
  }
  return one;
}

/// Returns GPUs that differ by `spread_of` each resource. Their ceilings also differ by 0.1 % from each other.
inline std::vector<results::NamedResults> fleet_of(int count, std::mt19937_64& random,
                                                   const std::function<double(compare::Resource)>& spread_of) {
  const auto normal = [&](double deviation) { return std::normal_distribution<double>{0, deviation}(random); };
  std::vector<results::NamedResults> files;
  for (int number = 0; number < count; ++number) {
    std::vector<double> effects;
    for (const compare::Resource resource : kAllOf<compare::Resource>) effects.push_back(normal(spread_of(resource)));
    files.push_back(gpu_file(number, [&](const CaseId& id) {
      const std::optional<compare::Resource> resource = compare::resource_of(id.at("what"));
      return (resource ? effects.at(static_cast<std::size_t>(*resource)) : normal(0.3)) + normal(0.001);
    }));
  }
  return files;
}

/// Makes a GPU slower in a resource by `share` of its rate.
inline void slow_down(results::NamedResults& one, compare::Resource resource, double share) {
  for (Record& record : one.file.records) {
    if (compare::resource_of(record.id.at("what")) == resource) {
      scale_samples(*record.timing, 1 / (1 - share));
    }
  }
}

}  // namespace tbench::support
