// A comparison for people: a table in a terminal, or Markdown for a pull request.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tbench/report/comparison.hpp"

namespace tbench::report {

struct PageOptions {
  bool markdown{};
  bool colour{};                           // of the verdicts; ignored for Markdown
  std::optional<std::size_t> max_width{};  // columns of the terminal; ignored for Markdown
};

/// E.g. `12 cases: 1 REGRESSED, 11 SAME; 2 only in base`.
[[nodiscard]] std::string comparison_summary(const Comparison& comparison);

/// Both sides, how their environments differ, a row a case, what only one side has, geometric means by family, the
/// summary; as Markdown with the warnings too. Columns that no case fills are left out. In a terminal, parameters that
/// all cases of a family share stand above the table and not in it.
[[nodiscard]] std::string comparison_page(const Comparison& comparison, const PageOptions& options);

}  // namespace tbench::report
