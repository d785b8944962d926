#include "tbench/core/hints/unmatched_filter.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <vector>

#include "tbench/core/hints/regex_mistakes.hpp"
#include "tbench/core/hints/suggestions.hpp"

namespace tbench {
namespace {

using Names = std::vector<std::string>;

bool matches(const std::string& filter, std::span<const std::string> names) {
  constexpr std::size_t kMaxName = 1024;  // std::regex uses one stack frame per character
  try {
    const std::regex pattern{filter, std::regex::extended};
    return std::ranges::any_of(
        names, [&](const std::string& name) { return name.size() <= kMaxName && std::regex_search(name, pattern); });
  } catch (const std::regex_error&) {
    return false;
  }
}

/// Returns the values of a key in the names, or the families for an empty key.
Names values_of(const std::string& key, std::span<const std::string> names) {
  Names values;
  for (const std::string& name : names) {
    const std::string before = "/" + key + ":";
    const std::size_t place = key.empty() ? 0 : name.find(before);
    if (place == std::string::npos) continue;
    const std::size_t begin = key.empty() ? 0 : place + before.size();
    values.push_back(name.substr(begin, std::min(name.find('/', begin), name.size()) - begin));
  }
  return values;
}

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

/// Returns the filter with each family and each value of a key replaced by its spelling in `names`, if
/// recognise_value() finds one.
std::string with_known_values(const std::string& filter, std::span<const std::string> names) {
  std::string text;
  std::string key;
  for (std::size_t at = 0; at < filter.size();) {
    std::size_t end = at;
    while (end < filter.size() && is_of_word(filter[end])) ++end;
    if (end == at) {
      if (filter[at] != ':') key.clear();
      text += filter[at++];
      continue;
    }
    const std::string word = filter.substr(at, end - at);
    const bool has_place = !key.empty() || text.empty() || text == "^";  // after a key, or that of the family
    text += has_place ? recognise_value(word, values_of(key, names)).value_or(word) : word;
    key = word;
    at = end;
  }
  return text;
}

}  // namespace

std::optional<std::string> meant_filter(std::string_view filter, std::span<const std::string> names) {
  constexpr std::size_t kMaxCharacters = 256;  // of what a person types
  if (filter.size() > kMaxCharacters) return std::nullopt;
  std::string meant{filter};
  std::erase_if(meant, [](char c) { return c == '\'' || c == '"'; });
  if (meant != filter && matches(meant, names)) return meant;
  std::ranges::replace(meant, '=', ':');
  if (meant != filter && matches(meant, names)) return meant;
  const std::string known = with_known_values(glob_as_regex(meant).value_or(meant), names);
  return known != filter && matches(known, names) ? std::optional{known} : std::nullopt;
}

}  // namespace tbench
