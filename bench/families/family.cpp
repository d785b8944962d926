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

std::vector<std::string> size_names(std::span<const ModelSize> sizes) {
  std::vector<std::string> names;
  for (const ModelSize& size : sizes) names.push_back(size.name);
  return names;
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
  std::vector<Family> families;
  for (const RegisteredFamily& entry : Registered<RegisteredFamily>::sorted()) {
    families.push_back(entry.make(extra_sizes));
  }
  return families;
}

Family make_family(std::string_view name, std::span<const ModelSize> extra_sizes) {
  const std::vector<RegisteredFamily> all = Registered<RegisteredFamily>::sorted();
  const auto found = std::ranges::find(all, name, &RegisteredFamily::name);
  if (found == all.end()) throw std::out_of_range{fmt::format("no benchmark family '{}'", name)};
  return found->make(extra_sizes);
}

}  // namespace tbench::bench
