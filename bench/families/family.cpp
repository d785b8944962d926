#include "bench/families/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tbench::bench {

void prescribe_few_samples(const CaseId& /*id*/, measure::SamplerOptions& sampler) {
  constexpr std::int64_t kFew = 10;
  if (!sampler.fixed_warm_up) sampler.fixed_warm_up = kFew;
  if (!sampler.fixed_samples) sampler.fixed_samples = kFew;
}

std::vector<ModelSize> known_model_sizes(std::span<const ModelSize> extra) {
  const std::span<const ModelSize> builtin = builtin_model_sizes();
  std::vector<ModelSize> sizes{builtin.begin(), builtin.end()};
  sizes.insert(sizes.end(), extra.begin(), extra.end());
  return sizes;
}

std::vector<FamilySpec> specs_of(const std::vector<Family>& families) {
  std::vector<FamilySpec> specs;
  for (const Family& family : families) specs.push_back(family.spec);
  return specs;
}

std::vector<Family> for_ranks(std::vector<Family> families, int ranks) {
  std::erase_if(families, [](const Family& family) { return !family.spans_ranks; });
  const std::string gpus = fmt::format("{}", ranks);
  for (Family& family : families) {
    std::ranges::find(family.spec.keys, "gpus", &KeySpec::key)->known = {gpus};
    for (CaseTable& table : family.spec.tables) std::ranges::find(table.axes, "gpus", &Axis::key)->values = {gpus};
  }
  return families;
}

const Family& family_of(const std::vector<Family>& families, const CaseId& id) {
  const auto found = std::ranges::find_if(families, [&](const Family& f) { return f.spec.name == id.family(); });
  if (found == families.end()) throw std::out_of_range{fmt::format("no benchmark family '{}'", id.family())};
  return *found;
}

std::vector<Family> all_families(std::span<const ModelSize> extra_sizes) {
  return {
      model_family(extra_sizes),         attention_family(),    gemm_family(),
      kernel_family(extra_sizes),        accumulation_family(), autocast_family(),
      warmup_family(extra_sizes),        ceiling_family(),      collective_family(),
      data_parallel_family(extra_sizes), overlap_family(),
  };
}

}  // namespace tbench::bench
