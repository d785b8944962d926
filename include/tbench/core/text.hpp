// Small text helpers: splitting, strict numbers and timestamps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbench {

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);

/// Returns a count with its noun: `1 case`, `2 cases`. Appends an `s` to the noun unless the count is one.
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);
/// Returns a count with the words that agree with it: `1 process`, `2 processes`, or `1 case is`, `2 cases are`.
[[nodiscard]] std::string counted(std::int64_t count, std::string_view one, std::string_view several);
/// Returns the number of elements with its noun, like counted().
[[nodiscard]] inline std::string counted_in(const auto& elements, std::string_view noun) {
  return counted(static_cast<std::int64_t>(elements.size()), noun);
}
/// Returns the words alone that agree with a count of any number type: `one` if the count is one, otherwise `several`.
[[nodiscard]] constexpr std::string_view agreeing(auto count, std::string_view one, std::string_view several) {
  return count == 1 ? one : several;
}

/// Returns the label shared by range names that differ only in a number: `layer.*` for `layer.12`. Drops the sequence
/// numbers that PyTorch appends to the names of its operations.
[[nodiscard]] std::string range_label(std::string_view name);

/// Returns an extended regular expression that matches `text` literally.
[[nodiscard]] std::string escape_regex(std::string_view text);

/// Parses the whole of `text` as a base-10 integer. Returns nullopt for other text ("12x", "", "1e3", out of range).
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// Parses `YYYY-MM-DDTHH:MM:SS` followed by `Z`, `+HH:MM` or `-HH:MM` (ISO 8601, as in results files) into seconds
/// since 1970 in UTC. Returns nullopt for other text.
[[nodiscard]] std::optional<std::int64_t> parse_timestamp(std::string_view text);

/// Formats seconds since 1970 as `YYYY-MM-DDTHH:MM:SSZ`, for the years 0 to 9999. The texts sort chronologically.
[[nodiscard]] std::string format_timestamp(std::int64_t seconds);

}  // namespace tbench
