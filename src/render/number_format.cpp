#include "tbench/render/number_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "tbench/core/text.hpp"

namespace tbench::render {
namespace {

constexpr int kSignificantDigits = 4;
constexpr std::array<std::string_view, 4> kByteUnits{"B", "KiB", "MiB", "GiB"};
constexpr std::int64_t kUnitStep = 1024;
constexpr double kMinWithoutExponent = 1e-4;
constexpr double kMaxWithoutExponent = 1e15;  // beyond, a double's last digits before the point mean nothing

std::int64_t whole_seconds(Seconds duration) { return std::llround(std::max(0.0, duration.value)); }

}  // namespace

std::string format_number(double value) {
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude < kMinWithoutExponent || magnitude >= kMaxWithoutExponent) return fmt::format("{:.3e}", value);
  // The exponent after rounding: 9.9999 has five digits before it is rounded, and prints as 10.00.
  const std::string scientific = fmt::format("{:.{}e}", magnitude, kSignificantDigits - 1);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  return fmt::format("{:.{}f}", value, std::max(0, kSignificantDigits - 1 - exponent));
}

std::string format_thousands(double value) {
  const std::string digits = fmt::format("{:.0f}", std::abs(value));
  std::string text{value < 0 && digits != "0" ? "-" : ""};
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string format_change(double ratio) { return fmt::format("{:+.2f}", 100 * (ratio - 1)); }
std::string format_change(const std::optional<double>& ratio) { return ratio ? format_change(*ratio) : ""; }

std::string format_percent(const std::optional<double>& fraction, int digits) {
  return fraction ? fmt::format("{:.{}f}", 100 * *fraction, digits) : "";
}

std::string format_milliseconds(const std::optional<Seconds>& time) {
  return time ? format_number(to_milliseconds(*time)) : "";
}

std::string format_gibibytes(const std::optional<std::int64_t>& bytes, int digits) {
  constexpr double kGibi = 1 << 30;
  return bytes ? fmt::format("{:.{}f}", static_cast<double>(*bytes) / kGibi, digits) : "";
}

std::string format_bytes(std::int64_t bytes) {
  std::size_t unit = 0;
  while (bytes > 0 && bytes % kUnitStep == 0 && unit + 1 < kByteUnits.size()) {
    bytes /= kUnitStep;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kByteUnits[unit]);
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  std::optional<std::int64_t> bytes = parse_integer(text.substr(0, space));
  const auto unit = std::ranges::find(kByteUnits, text.substr(space + 1));
  if (!bytes || unit == kByteUnits.end()) return std::nullopt;
  for (auto smaller = kByteUnits.begin(); smaller != unit; ++smaller) *bytes *= kUnitStep;
  return bytes;
}

std::string format_day(const std::string& timestamp) { return timestamp.substr(0, timestamp.find('T')); }
std::string format_commit(const std::string& commit) {
  const std::size_t mark = std::min(commit.find('-'), commit.size());
  return fmt::format("{:.12}{}", commit.substr(0, mark), commit.substr(mark));
}

std::string format_clock(Seconds duration) {
  const std::int64_t seconds = whole_seconds(duration);
  const std::int64_t hours = seconds / 3600;
  const std::int64_t minutes = seconds / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, seconds % 60);
  return fmt::format("{}:{:02}", minutes, seconds % 60);
}

std::string format_duration(Seconds duration) {
  const std::int64_t seconds = whole_seconds(duration);
  if (duration.value < 59.95) return fmt::format("{:.1f} s", std::max(0.0, duration.value));
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

}  // namespace tbench::render
