// Finds files of a comparison that have the same samples.
#include <fmt/format.h>

#include "tbench/compare/sides.hpp"
#include "tbench/core/error.hpp"

namespace tbench::compare {

void CopyFinder::add(const ComparisonSide& side) {
  for (const results::MeasuredCase& measured : side.cases) {
    for (const results::Replicate& replicate : measured.replicates) {
      if (!replicate.samples_digest) continue;
      const auto [begin, end] = seen_.equal_range(*replicate.samples_digest);
      for (auto other = begin; other != end; ++other) {
        if (other->second.measured->key != measured.key) continue;
        throw UsageError{
            fmt::format("'{}' and '{}' hold the same samples of {}; give each file once, and no part of it in "
                        "another",
                        other->second.side->paths.front(), side.paths.front(), other->second.measured->id.name())};
      }
      seen_.emplace(*replicate.samples_digest, Samples{&measured, &side});
    }
  }
}

void refuse_copies(std::span<const ComparisonSide> sides) {
  CopyFinder finder;
  for (const ComparisonSide& side : sides) finder.add(side);
}

}  // namespace tbench::compare
