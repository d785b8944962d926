#include "html/plots/compared_files.hpp"

#include <stdexcept>

#include "tbench/compare/comparison_output.hpp"

namespace tbench::html {
namespace {

compare::ComparisonSide side_of_results(const results::NamedResults& result) {
  return compare::side_of(result.label, result.file);
}

}  // namespace

std::vector<FileComparison> compare_with_first(std::span<const results::NamedResults> results) {
  std::vector<FileComparison> comparisons;
  for (std::size_t i = 1; i < results.size(); ++i) {
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
