#include "tbench/results/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace tbench::results {
namespace {

/// The effect of a byte outside of a string on the nesting.
enum class Role : unsigned char { kNothing, kOpens, kCloses, kQuotes };

constexpr std::array<Role, 256> kRoles = [] {
  std::array<Role, 256> roles{};
  for (const char opening : {'[', '{'}) roles.at(static_cast<unsigned char>(opening)) = Role::kOpens;
  for (const char closing : {']', '}'}) roles.at(static_cast<unsigned char>(closing)) = Role::kCloses;
  roles.at('"') = Role::kQuotes;
  return roles;
}();

/// Returns the index of the quote that ends the string, or an index beyond the text if there is none.
/// @param begin  index after the quote that begins the string
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  std::size_t i = begin;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return i;
}

/// The spellings of numbers that are not finite, in lower case. Longer spellings precede their beginnings.
constexpr std::array<std::string_view, 5> kOddNumbers{"infinity", "nan(snan)", "nan(ind)", "nan", "inf"};

/// A number at the beginning of a text.
struct Number {
  std::size_t size{};  // including its sign; 0 if there is no number
  bool is_odd{};       // whether it is not finite, which JSON does not permit
};

Number number_at(std::string_view text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  for (const std::string_view spelling : kOddNumbers) {
    const auto is_same = [](char letter, char lower) {
      return std::tolower(static_cast<unsigned char>(letter)) == static_cast<unsigned char>(lower);
    };
    if (std::ranges::equal(text.substr(sign, spelling.size()), spelling, is_same)) {
      return {.size = sign + spelling.size(), .is_odd = true};
    }
  }
  const std::size_t size = std::min(text.find_first_not_of("0123456789+-.eE"), text.size());
  constexpr std::size_t kShortest = 5;  // length of the shortest number that is too large: 1e309
  if (size < kShortest) return {.size = size, .is_odd = false};
  return {.size = size, .is_odd = std::isinf(std::strtod(std::string{text.substr(0, size)}.c_str(), nullptr))};
}

}  // namespace

std::string_view after_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark{"\xEF\xBB\xBF"};
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

void check_nesting(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Role role = kRoles[static_cast<unsigned char>(text[i])];
    if (role == Role::kNothing) continue;
    if (role == Role::kQuotes) i = end_of_string(text, i + 1);
    if (role == Role::kCloses && depth > 0) --depth;
    if (role == Role::kOpens) check_nesting(depth++);
  }
}

void check_nesting(std::size_t depth) {
  if (depth >= kMaxNesting) throw NestedTooDeeply{fmt::format("nested more than {} levels deep", kMaxNesting)};
}

std::optional<std::string> with_quoted_numbers(const std::string& text) {
  std::optional<std::string> changed;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      i = end_of_string(text, i + 1);
      continue;
    }
    const Number number = number_at(std::string_view{text}.substr(i));
    if (number.size == 0) continue;
    if (number.is_odd) {
      if (!changed) changed = text;
      changed->at(i) = '"';
      changed->at(i + number.size - 1) = '"';
    }
    i += number.size - 1;
  }
  return changed;
}

Json parse_json(std::string_view text) {
  check_nesting(text);
  return Json::parse(text);
}

}  // namespace tbench::results
