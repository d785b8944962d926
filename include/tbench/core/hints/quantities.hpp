// Numbers as users write them where an option takes a plain one: with a unit, an exponent or a separator of thousands.
// They serve suggestions; no option accepts them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbench {

/// Returns the seconds of a duration: 120 for `2m`, 0.5 for `500ms` and for `0,5`. Returns nullopt for other text,
/// unknown units and negative numbers.
[[nodiscard]] std::optional<double> seconds_in(std::string_view text);

/// Returns the GiB of an amount of memory: 16 for `16GiB` and for `16 GB`, 0.5 for `512M`. Does not tell GB from GiB.
[[nodiscard]] std::optional<double> gib_in(std::string_view text);

/// Returns the whole number of a count: 10 for `10x`, 1000 for `1e3` and for `1,000`, 5 for `5.0` and for `5 steps`.
/// @param thousand  value of the unit `k`; `M` is its square
[[nodiscard]] std::optional<std::int64_t> count_in(std::string_view text, std::int64_t thousand = 1000);

/// Returns the percentage of `2%`, `2 percent` and `2pct`: 2. Returns nullopt for other units.
[[nodiscard]] std::optional<double> percent_in(std::string_view text);

/// Returns what is wrong with a text that is not a whole number of at least `min`, with the number that is meant: `'5x'
/// is not a whole number of at least 1; did you mean '5'?`. Returns nullopt for such a number.
[[nodiscard]] std::optional<std::string> explain_count(std::string_view text, std::int64_t min);

}  // namespace tbench
