// Numbers as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/units.hpp"

namespace tbench::render {

/// Four significant digits, or all digits before the point where there are more; no exponent from 0.0001 on.
[[nodiscard]] std::string format_number(double value);

/// A whole number with thousands separated by commas: `1,234,568`.
[[nodiscard]] std::string format_thousands(double value);

/// A ratio as the change that it is, in percent: `+4.80` of 1.048.
[[nodiscard]] std::string format_change(double ratio);
/// Empty where there is none.
[[nodiscard]] std::string format_change(const std::optional<double>& ratio);

/// A fraction in percent with so many digits behind the point: `12.34` of 0.1234. Empty where there is none.
[[nodiscard]] std::string format_percent(const std::optional<double>& fraction, int digits);

/// Formats a time in milliseconds, like format_number. Empty where there is none.
[[nodiscard]] std::string format_milliseconds(const std::optional<Seconds>& time);

/// Formats bytes in GiB with so many digits behind the point. Empty where there is none.
[[nodiscard]] std::string format_gibibytes(const std::optional<std::int64_t>& bytes, int digits);

/// A number of bytes >= 0 as people say it: `1 KiB`, `384 MiB`, `4 GiB`; whole, of the largest unit that divides it.
[[nodiscard]] std::string format_bytes(std::int64_t bytes);
/// Reads the text that format_bytes has written; returns nothing for another text.
[[nodiscard]] std::optional<std::int64_t> parse_bytes(std::string_view text);

/// The day of a time as format_timestamp writes it.
[[nodiscard]] std::string format_day(const std::string& timestamp);
/// The first twelve digits of a commit, with the mark of a tree that had changes: `29971fb85631-dirty`.
[[nodiscard]] std::string format_commit(const std::string& commit);

/// `0:41`, `2:10`, `1:02:05`.
[[nodiscard]] std::string format_clock(Seconds duration);

/// `3.2 s`, `3 min 12 s`, `1 h 2 min`.
[[nodiscard]] std::string format_duration(Seconds duration);

}  // namespace tbench::render
