// JSON text that is read: no reader of this project takes text that is nested deeper than any that it writes.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tbench/results/record_json.hpp"

namespace tbench::results {

/// The text after the byte order mark with which other programs begin UTF-8, where it has one.
[[nodiscard]] std::string_view after_byte_order_mark(std::string_view text);

/// Arrays and objects within each other. What this project writes has seven at most; every level costs a reader stack.
inline constexpr std::size_t kMaxNesting = 64;

/// Text that is nested too deeply. The message says where.
class NestedTooDeeply : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @param text  of which brackets alone count: what is no JSON passes, or does not
/// @throws  NestedTooDeeply  for more than kMaxNesting levels, closed or not
void check_nesting(std::string_view text);

/// Like check_nesting(text), for a parser's callback.
/// @param depth  that it is told of the array or object that begins: 0 for the outermost
void check_nesting(std::size_t depth);

/// The text with every number that is not finite (NaN, Infinity, inf, with a sign or without, 1e999) as a text of as
/// many bytes: other programs write them, and JSON does not have them. Nothing where there is none.
[[nodiscard]] std::optional<std::string> with_quoted_numbers(const std::string& text);

/// The value of the whole text, after check_nesting.
/// @throws  NestedTooDeeply, nlohmann::json::exception
[[nodiscard]] Json parse_json(std::string_view text);

}  // namespace tbench::results
