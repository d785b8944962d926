// Small text helpers: the nearest known name for an error message, splitting, strict numbers and moments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbench {

/// Levenshtein distance: insertions, deletions and substitutions cost 1.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `text`, if it is near enough to be a likely typing error (distance at most two fifths of
/// the longer length, at least 1).
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view text, std::span<const std::string> candidates);

/// `; did you mean 'X'?`, or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view text, std::span<const std::string> candidates);

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);

/// Returns the common part of range names that differ in a number alone: `layer.*` of `layer.12`; without the sequence
/// numbers that PyTorch appends to the names of its operations.
[[nodiscard]] std::string range_label(std::string_view name);

/// An extended regular expression that finds `text` as it is.
[[nodiscard]] std::string escape_regex(std::string_view text);

/// The whole of `text` as a base-10 integer; nothing for anything else ("12x", "", "1e3", out of range).
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// Seconds since 1970 in UTC of `YYYY-MM-DDTHH:MM:SS` with `Z` or `+HH:MM` behind it; nothing for anything else.
/// Results files write moments so: ISO 8601.
[[nodiscard]] std::optional<std::int64_t> parse_timestamp(std::string_view text);

/// `YYYY-MM-DDTHH:MM:SSZ`, of the years 0 to 9999: sorts as the moments do.
[[nodiscard]] std::string format_timestamp(std::int64_t seconds);

}  // namespace tbench
