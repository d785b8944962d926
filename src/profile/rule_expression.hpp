// The dialect of the rules' regular expressions, checked before the C library compiles one: its messages have no
// position, and some short expressions would take it all memory there is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tbench::profile {

struct ExpressionError {
  std::size_t position{};  // of the letter at fault, from 0
  std::string problem;     // with the remedy
};

/// What makes `expression` no rule: brackets without partner, a repetition of nothing, a counted one, a back-reference,
/// more than `regcomp` expands in a few milliseconds; nothing for an expression that may be compiled.
[[nodiscard]] std::optional<ExpressionError> check_expression(std::string_view expression);

/// The first bracket expression that cannot be compiled alone, `[z-a]`, as its position; 0 if there is none.
[[nodiscard]] std::size_t bad_bracket(std::string_view expression);

}  // namespace tbench::profile
