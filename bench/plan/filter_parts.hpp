// The parts of a --benchmark_filter that stand for themselves: text between its slashes and wildcards.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tbench::bench {

/// The neighbour of a part of a filter: an end of the name (`^`, `$`), a slash, a wildcard or an end of the
/// expression, where the part of the name may continue, or another operator.
enum class FilterEdge { kNameEnd, kSlash, kOpen, kOperator };

/// Text of a filter without operators and slashes: `Attention`, `seq_len:4096`. A `.` between two letters or digits is
/// kept, and matches any character.
struct FilterPart {
  std::string text;
  FilterEdge left{};
  FilterEdge right{};
  std::size_t begin{};  // position in the expression
  std::size_t end{};    // position after its last character

  /// Returns whether a part of a case's name (`Attention`, `seq_len:4096`) can match this part.
  [[nodiscard]] bool fits(std::string_view part_of_name) const;
};

struct FilterParts {
  std::vector<FilterPart> parts;  // in their order; without those next to an operator, which match more than their text
  bool has_operators{};           // whether the expression has operators other than wildcards and the ends of the name
};

/// Returns the alternatives that a `|` outside of all groups separates.
[[nodiscard]] std::vector<std::string> alternatives_of(std::string_view expression);

/// Returns the plain parts of an extended regular expression without alternatives.
[[nodiscard]] FilterParts parts_of(std::string_view expression);

}  // namespace tbench::bench
