#include "tbench/compare/known_spreads.hpp"

#include <algorithm>
#include <cmath>

#include "compare/spreads/spread_source.hpp"

namespace tbench::compare {

stats::DispersionPrior KnownDispersion::prior() const {
  constexpr double kTail = 0.025;
  static const double kLimits = std::sqrt(2.0) * stats::t_upper_quantile(kTail, kSpreadFreedom);
  return {.standard_deviation = limit / kLimits, .degrees_of_freedom = kSpreadFreedom};
}

std::optional<KnownDispersion> KnownSpreads::find(const std::string& key, SpreadClass of, Apart apart) const {
  const auto own = cases.find(CaseKey{key, of, apart});
  if (own != cases.end()) return own->second;
  const auto of_class = classes.find(ClassKey{of, apart});
  return of_class == classes.end() ? std::nullopt : std::optional{of_class->second};
}

void KnownSpreads::put_over(const KnownSpreads& own) {
  for (const auto& [key, spread] : own.classes) {
    if (spread.borrowed.empty()) classes.insert_or_assign(key, spread);
  }
  for (const auto& [key, spread] : own.cases) cases.insert_or_assign(key, spread);
  for (const std::string& gpu : own.gpus) {
    if (std::ranges::find(gpus, gpu) == gpus.end()) gpus.push_back(gpu);
  }
}

const KnownSpreads& built_in_spreads() {
  static const KnownSpreads kSpreads = [] {
    const EmbeddedFile& file = spread_files().front();
    return parse_spreads(file.content, std::string{file.name});
  }();
  return kSpreads;
}

}  // namespace tbench::compare
