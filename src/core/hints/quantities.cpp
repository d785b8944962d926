#include "tbench/core/hints/quantities.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <system_error>

namespace tbench {
namespace {

using Factors = std::map<std::string, double, std::less<>>;

bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

/// Removes separators of thousands, and turns a decimal comma into a point.
std::string with_point(std::string_view text) {
  std::string number{text};
  std::erase(number, '_');
  std::erase(number, '\'');
  for (std::size_t at = number.find(','); at != std::string::npos; at = number.find(',', at)) {
    const std::string_view digits = std::string_view{number}.substr(at + 1, 4);
    const bool are_thousands = at > 0 && digits.size() >= 3 &&
                               std::all_of(digits.begin(), digits.begin() + 3, &is_digit) &&
                               (digits.size() == 3 || !is_digit(digits[3]));
    number.replace(at, 1, are_thousands ? "" : ".");
  }
  return number;
}

struct Quantity {
  double number{};
  std::string unit;  // in lower case
};

std::optional<Quantity> quantity_of(std::string_view text) {
  const std::string written = with_point(text);
  const std::size_t begin = written.starts_with('+') ? 1 : 0;
  if (begin >= written.size() || (!is_digit(written[begin]) && written[begin] != '.')) return std::nullopt;
  Quantity quantity;
  const char* const end = written.data() + written.size();
  const auto [stop, error] = std::from_chars(written.data() + begin, end, quantity.number);
  if (error != std::errc{} || !std::isfinite(quantity.number)) return std::nullopt;
  for (const char letter : std::string_view{stop, end}) {
    if (letter != ' ') quantity.unit += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return quantity;
}

std::optional<double> scaled(std::string_view text, const Factors& factors) {
  const std::optional<Quantity> quantity = quantity_of(text);
  if (!quantity) return std::nullopt;
  const auto factor = factors.find(quantity->unit);
  return factor == factors.end() ? std::nullopt : std::optional{quantity->number * factor->second};
}

}  // namespace

std::optional<double> seconds_in(std::string_view text) {
  static const Factors factors{{"", 1},
                               {"s", 1},
                               {"sec", 1},
                               {"secs", 1},
                               {"second", 1},
                               {"seconds", 1},
                               {"ns", 1e-9},
                               {"us", 1e-6},
                               {"ms", 1e-3},
                               {"msec", 1e-3},
                               {"milliseconds", 1e-3},
                               {"m", 60},
                               {"min", 60},
                               {"mins", 60},
                               {"minute", 60},
                               {"minutes", 60},
                               {"h", 3600},
                               {"hr", 3600},
                               {"hour", 3600},
                               {"hours", 3600}};
  return scaled(text, factors);
}

std::optional<double> gib_in(std::string_view text) {
  static const Factors factors{{"", 1},           {"g", 1},           {"gb", 1},           {"gib", 1},
                               {"m", 1.0 / 1024}, {"mb", 1.0 / 1024}, {"mib", 1.0 / 1024}, {"t", 1024},
                               {"tb", 1024},      {"tib", 1024}};
  return scaled(text, factors);
}

std::optional<std::int64_t> count_in(std::string_view text, std::int64_t thousand) {
  constexpr double kLargest = 1e15;  // a double is exact up to 2^53
  const auto k = static_cast<double>(thousand);
  const Factors factors{{"", 1},        {"x", 1},     {"times", 1},  {"step", 1}, {"steps", 1}, {"sample", 1},
                        {"samples", 1}, {"token", 1}, {"tokens", 1}, {"runs", 1}, {"k", k},     {"m", k * k}};
  const std::optional<double> value = scaled(text, factors);
  if (!value || *value > kLargest || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace tbench
