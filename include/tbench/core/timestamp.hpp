// Moments as results files write them: ISO 8601.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbench {

/// Seconds since 1970 in UTC of `YYYY-MM-DDTHH:MM:SS` with `Z` or `+HH:MM` behind it; nothing for anything else.
[[nodiscard]] std::optional<std::int64_t> parse_timestamp(std::string_view text);

/// `YYYY-MM-DDTHH:MM:SSZ`, of the years 0 to 9999: sorts as the moments do.
[[nodiscard]] std::string format_timestamp(std::int64_t seconds);

}  // namespace tbench
