// Explanations of texts that are not the extended regular expressions that their writers meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tbench {

/// Returns the expression that a shell's pattern means: each `*` that does not repeat a `.`, a group or a set becomes
/// `.*`, and `{a,b}` becomes `(a|b)`. Drops `.*` at both ends, since a filter searches. Returns nullopt if that changes
/// nothing or leaves nothing.
[[nodiscard]] std::optional<std::string> glob_as_regex(std::string_view text);

/// Returns why `expression` is not an extended regular expression, with a remedy, or nullopt if the reason is not one
/// of the usual ones: a shell's pattern, an unclosed bracket, or syntax of Perl and Python (`\d`, `(?i)`).
[[nodiscard]] std::optional<std::string> explain_regex_error(std::string_view expression);

}  // namespace tbench
