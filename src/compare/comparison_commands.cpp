#include "compare/comparison_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tbench::compare {
namespace {

/// The words of a loop over so many numbers, which all have the same number of digits: `1 2 3`, `$(seq -w 12)`.
std::string numbers_to(std::int64_t count) {
  constexpr std::int64_t kSpelledOut = 9;
  if (count > kSpelledOut) return fmt::format("$(seq -w {})", count);
  std::string numbers;
  for (std::int64_t i = 1; i <= count; ++i) numbers += fmt::format("{}{}", i == 1 ? "" : " ", i);
  return numbers;
}

}  // namespace

std::string measure_in_turns(const results::RunFlags& base, const results::RunFlags& next,
                             std::span<const std::string> names, std::int64_t replicates) {
  const std::string digits(fmt::format("{}", replicates).size(), '?');
  return fmt::format(
      "for i in {}; do BASE/transformer_bench{} --benchmark_out=base$i.json; NEW/transformer_bench{} "
      "--benchmark_out=new$i.json; done; tbench diff base{}.json --to new{}.json",
      numbers_to(replicates), results::flags_for(base, names), results::flags_for(next, names), digits, digits);
}

std::int64_t replicates_to_decide(const Comparison& comparison, Verdict verdict) {
  std::int64_t enough = 0;
  for (const CaseComparison& c : comparison.cases) {
    if (c.verdict == verdict) enough = std::max(enough, c.replicates_to_decide.value_or(0));
  }
  return enough;
}

std::string decide_what_is_open(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const CaseComparison& c : comparison.cases) {
    if (c.verdict == Verdict::kInsufficient || c.verdict == Verdict::kAmbiguous) names.push_back(c.id.name());
  }
  if (names.size() == comparison.cases.size()) names.clear();
  const std::int64_t enough = replicates_to_decide(comparison, Verdict::kAmbiguous);
  return measure_in_turns(comparison.base.run, comparison.next.run, names, std::max(kUsualReplicates, enough));
}

}  // namespace tbench::compare
