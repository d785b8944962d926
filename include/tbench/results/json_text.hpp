// Checks and parsing of JSON text. All readers of this project refuse text that is nested too deeply.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tbench/results/record_json.hpp"

namespace tbench::results {

/// Returns the text without the UTF-8 byte order mark that some programs write.
[[nodiscard]] std::string_view after_byte_order_mark(std::string_view text);

/// The deepest permitted nesting of arrays and objects. This project's committed results have at most nine levels; each
/// level costs stack in a parser.
inline constexpr std::size_t kMaxNesting = 64;

/// Text that is nested too deeply. The message says where.
class NestedTooDeeply : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Checks the nesting of brackets in the text. Does not check that the text is valid JSON.
/// @throws  NestedTooDeeply  for more than kMaxNesting levels, closed or not
void check_nesting(std::string_view text);

/// Checks the nesting like check_nesting(text), for a parser's callback.
/// @param depth  depth that the parser reports for the array or object that begins; 0 for the outermost
void check_nesting(std::size_t depth);

/// Replaces every number that is not finite (NaN, Infinity, inf, with or without a minus sign, 1e999) by a string of
/// the same length. Some programs write such numbers, although JSON does not permit them. Returns nullopt if there are
/// none.
[[nodiscard]] std::optional<std::string> with_quoted_numbers(const std::string& text);

/// Parses the whole text after check_nesting().
/// @throws  NestedTooDeeply, nlohmann::json::exception
[[nodiscard]] Json parse_json(std::string_view text);

}  // namespace tbench::results
