#include "tbench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <system_error>

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

/// Returns the offset in seconds east of UTC, or nullopt if `zone` is not an offset.
std::optional<int> offset_of(std::string_view zone) {
  if (zone == "Z") return 0;
  if (!matches(zone, "+dd:dd") && !matches(zone, "-dd:dd")) return std::nullopt;
  const int seconds = 3600 * number(zone.substr(1, 2)) + 60 * number(zone.substr(4, 2));
  return zone.front() == '-' ? -seconds : seconds;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    if (end == std::string_view::npos) {
      parts.emplace_back(text.substr(begin));
      return parts;
    }
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, agreeing(count, "", "s"));
}

std::string counted(std::int64_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, agreeing(count, one, several));
}

std::string range_label(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kSeparators = "._ :#-";
  name = name.substr(0, std::min(name.find(", seq = "), name.find(", op_id = ")));
  const std::size_t last = name.find_last_not_of(kDigits);
  const bool ends_in_number = last != std::string_view::npos && last + 1 < name.size();
  if (!ends_in_number || kSeparators.find(name[last]) == std::string_view::npos) return std::string{name};
  return std::string{name.substr(0, last + 1)} + "*";
}

/// Does not escape `]` and `}`: alone they are ordinary characters, which must not be escaped.
std::string escape_regex(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (std::string_view{R"(.[{()*+?^$|\)"}.find(letter) != std::string_view::npos) escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

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
