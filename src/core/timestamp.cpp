#include "tbench/core/timestamp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace tbench {
namespace {

constexpr std::string_view kPattern{"dddd-dd-ddTdd:dd:dd"};

bool matches(std::string_view text, std::string_view pattern) {
  return std::ranges::equal(text, pattern, [](char c, char p) { return p == 'd' ? c >= '0' && c <= '9' : c == p; });
}

int number(std::string_view digits) {
  int value = 0;
  for (const char c : digits) value = 10 * value + (c - '0');
  return value;
}

/// Seconds east of UTC; nothing for no offset.
std::optional<int> offset_of(std::string_view zone) {
  if (zone == "Z") return 0;
  if (!matches(zone, "+dd:dd") && !matches(zone, "-dd:dd")) return std::nullopt;
  const int seconds = 3600 * number(zone.substr(1, 2)) + 60 * number(zone.substr(4, 2));
  return zone.front() == '-' ? -seconds : seconds;
}

}  // namespace

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  if (text.size() < kPattern.size() || !matches(text.substr(0, kPattern.size()), kPattern)) return std::nullopt;
  const std::optional<int> offset = offset_of(text.substr(kPattern.size()));
  const std::chrono::year_month_day day{std::chrono::year{number(text.substr(0, 4))},
                                        std::chrono::month{static_cast<unsigned>(number(text.substr(5, 2)))},
                                        std::chrono::day{static_cast<unsigned>(number(text.substr(8, 2)))}};
  const int hour = number(text.substr(11, 2));
  const int minute = number(text.substr(14, 2));
  const int second = number(text.substr(17, 2));
  if (!offset || !day.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const std::int64_t midnight = std::chrono::sys_seconds{std::chrono::sys_days{day}}.time_since_epoch().count();
  return midnight + std::int64_t{3600} * hour + std::int64_t{60} * minute + second - *offset;
}

std::string format_timestamp(std::int64_t seconds) {
  const std::chrono::sys_seconds moment{std::chrono::seconds{seconds}};
  const auto midnight = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day day{midnight};
  const std::chrono::hh_mm_ss clock{moment - midnight};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

}  // namespace tbench
