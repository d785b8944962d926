// Formats numbers for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/units.hpp"

namespace tbench::render {

/// Formats a number with four significant digits, or with all digits before the decimal point if there are more. Uses
/// an exponent only for magnitudes below 0.0001 and from 1e15 on.
[[nodiscard]] std::string format_number(double value);

/// Formats a whole number with commas between thousands: `1,234,568`.
[[nodiscard]] std::string format_thousands(double value);

/// Formats a ratio as a change in percent: `+4.80` for 1.048.
[[nodiscard]] std::string format_change(double ratio);
/// Formats a ratio as above; returns an empty string if it is absent.
[[nodiscard]] std::string format_change(const std::optional<double>& ratio);

/// Formats a fraction in percent with `digits` decimals: `12.34` for 0.1234. Returns an empty string if it is absent.
[[nodiscard]] std::string format_percent(const std::optional<double>& fraction, int digits);

/// Formats a time in milliseconds, like format_number(). Returns an empty string if it is absent.
[[nodiscard]] std::string format_milliseconds(const std::optional<Seconds>& time);

/// Formats bytes in GiB with `digits` decimals. Returns an empty string if they are absent.
[[nodiscard]] std::string format_gibibytes(const std::optional<std::int64_t>& bytes, int digits);

/// Formats a number of bytes >= 0 exactly, as a whole number of the largest unit that divides it: `1 KiB`, `384 MiB`.
[[nodiscard]] std::string format_bytes(std::int64_t bytes);
/// Parses a text that format_bytes() has written. Returns nullopt for any other text.
[[nodiscard]] std::optional<std::int64_t> parse_bytes(std::string_view text);

/// Returns the date part of a timestamp that format_timestamp() has written.
[[nodiscard]] std::string format_day(const std::string& timestamp);
/// Returns the first twelve digits of a commit, with `-dirty` if the tree had changes: `29971fb85631-dirty`.
[[nodiscard]] std::string format_commit(const std::string& commit);

/// Formats a duration as `0:41`, `2:10` or `1:02:05`.
[[nodiscard]] std::string format_clock(Seconds duration);

/// Formats a duration as `3.2 s`, `3 min 12 s` or `1 h 2 min`.
[[nodiscard]] std::string format_duration(Seconds duration);

}  // namespace tbench::render
