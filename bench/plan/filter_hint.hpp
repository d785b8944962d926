// Explains why a --benchmark_filter matches nothing.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tbench/core/case_id.hpp"
#include "tbench/core/case_table.hpp"

namespace tbench::bench {

/// Returns which part of a filter no case name has, with a suggestion: an unknown family, key or value, keys in the
/// wrong order, quotation marks, a shell's pattern. Returns nullopt if no part is recognised as a
/// mistake, and for a filter that matches some of `cases`. Looks only at plain text between slashes and wildcards: text
/// next to another operator is not evaluated.
/// @param filter    an extended regular expression
/// @param families  all families, whose keys and values are known
/// @param cases     cases that the filter could have matched
/// @param others    cases whose values are known, too
[[nodiscard]] std::optional<std::string> explain_unmatched_filter(const std::string& filter,
                                                                  std::span<const FamilySpec> families,
                                                                  std::span<const CaseId> cases,
                                                                  std::span<const CaseId> others);

}  // namespace tbench::bench
