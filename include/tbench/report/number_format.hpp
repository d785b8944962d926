// Numbers as people read them.
#pragma once

#include <string>

#include "tbench/core/units.hpp"

namespace tbench::report {

/// Four significant digits, or all digits before the point where there are more; no exponent from 0.0001 on.
[[nodiscard]] std::string format_number(double value);

/// A whole number with thousands separated by commas: `1,234,568`.
[[nodiscard]] std::string format_thousands(double value);

/// `0:41`, `2:10`, `1:02:05`.
[[nodiscard]] std::string format_clock(Seconds duration);

/// `3.2 s`, `3 min 12 s`, `1 h 2 min`.
[[nodiscard]] std::string format_duration(Seconds duration);

}  // namespace tbench::report
