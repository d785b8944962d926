#include "html/plots/compared_files.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "tbench/compare/comparison_output.hpp"

namespace tbench::html {
namespace {

compare::ComparisonSide side_of_results(const results::NamedResults& result) {
  return compare::side_of(result.label, result.file);
}

std::set<std::string> case_names(const results::NamedResults& result) {
  std::set<std::string> names;
  for (const Record& record : result.file.records) names.insert(record.id.name());
  return names;
}

/// Returns whether two files have enough cases in common: half the cases of the smaller file, or one if the page has
/// only these two.
bool are_comparable(const std::set<std::string>& first, const std::set<std::string>& other, bool is_pair) {
  const auto common = static_cast<std::size_t>(
      std::ranges::count_if(other, [&](const std::string& name) { return first.contains(name); }));
  return common > 0 && (is_pair || 2 * common >= std::min(first.size(), other.size()));
}

}  // namespace

std::vector<FileComparison> compare_with_first(std::span<const results::NamedResults> results) {
  std::vector<FileComparison> comparisons;
  const std::set<std::string> first = results.empty() ? std::set<std::string>{} : case_names(results.front());
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (!are_comparable(first, case_names(results[i]), results.size() == 2)) continue;
    FileComparison& against = comparisons.emplace_back(FileComparison{.file = i, .comparison = {}, .refused = {}});
    try {
      against.comparison = compare::compare(side_of_results(results.front()), side_of_results(results[i]), {});
    } catch (const std::runtime_error& error) {  // the page still shows the file's numbers
      against.refused = error.what();
    }
  }
  return comparisons;
}

}  // namespace tbench::html
