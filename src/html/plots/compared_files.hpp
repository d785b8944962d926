// The comparisons of a page with several files.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/compare/comparison.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::html {

/// The comparison of a file with the first one, as `tbench diff` makes it.
struct FileComparison {
  std::size_t file{};  // index of the file
  std::optional<compare::Comparison> comparison;
  std::string refused;  // reason if the files must not or cannot be compared
};

/// Returns one comparison for each file after the first that has enough cases in common with it: half the cases of the
/// smaller file, or one case if there are only two files.
[[nodiscard]] std::vector<FileComparison> compare_with_first(std::span<const results::NamedResults> results);

}  // namespace tbench::html
