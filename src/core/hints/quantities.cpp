#include "tbench/core/hints/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <system_error>

#include "tbench/core/hints/suggestions.hpp"

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
  Factors factors{{"k", k}, {"m", k * k}};
  for (const char* const unit : {"",       "x",       "times", "step",   "steps",  "iter",    "iters",    "iterations",
                                 "sample", "samples", "token", "tokens", "case",   "cases",   "run",      "runs",
                                 "d",      "day",     "days",  "night",  "nights", "process", "processes"}) {
    factors.emplace(unit, 1);
  }
  const std::optional<double> value = scaled(text, factors);
  if (!value || *value > kLargest || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<double> percent_in(std::string_view text) {
  static const Factors factors{{"", 1}, {"%", 1}, {"pct", 1}, {"percent", 1}, {"pc", 1}};
  return scaled(text, factors);
}

std::optional<std::string> explain_count(std::string_view text, std::int64_t min) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc{} && stop == text.data() + text.size();
  if (is_number && value >= min) return std::nullopt;
  const std::optional<std::int64_t> meant = count_in(text);
  const bool is_likely = meant && *meant >= min && !is_number;
  return fmt::format("'{}' is not a whole number of at least {}{}", text, min,
                     is_likely ? did_you_mean_text(fmt::format("{}", *meant)) : std::string{});
}

}  // namespace tbench
