// Small text helpers: the nearest known name for an error message, splitting, strict numbers and timestamps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbench {

/// Returns the Levenshtein distance: insertions, deletions and substitutions cost 1 each.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the candidate nearest to `text` if `text` is likely a mistyped form of it: if their distance is at most two
/// fifths of the longer length, or 1 if that is more. Otherwise returns nullopt.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view text, std::span<const std::string> candidates);

/// Returns `; did you mean 'X'?`, or an empty string if no candidate is near enough.
[[nodiscard]] std::string did_you_mean(std::string_view text, std::span<const std::string> candidates);

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);

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
