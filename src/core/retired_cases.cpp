#include "tbench/core/case_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/retired_source.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench {
namespace {

/// Returns the words of a line before its comment.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words = split(line.substr(0, line.find('#')), ' ');
  std::erase(words, "");
  return words;
}

}  // namespace

bool RetiredCases::Rule::fits(const CaseId& id) const {
  const bool has_choices = std::ranges::all_of(choices, [&](const Choice& choice) {
    const std::string* const value = id.find(choice.key);
    return value != nullptr && std::ranges::find(choice.values, *value) != choice.values.end();
  });
  return has_choices &&
         std::ranges::none_of(absent_keys, [&](const std::string& key) { return id.find(key) != nullptr; });
}

RetiredCases::Rule RetiredCases::parse_rule(const std::vector<std::string>& words, std::string_view where) {
  constexpr std::size_t kFixedWords = 3;
  const auto wrong = [&](std::string_view what) {
    return UsageError{
        fmt::format("{}: {}; expected: drop|keep SUITE FAMILY KEY:VALUE[,VALUE...]... [-KEY...]", where, what)};
  };
  if (words.size() <= kFixedWords) throw wrong("no suite, family and key");
  if (words[0] != "drop" && words[0] != "keep") throw wrong(fmt::format("'{}' is neither drop nor keep", words[0]));
  const std::optional<Suite> suite = parse_enum<Suite>(words[1]);
  if (!suite) throw wrong(fmt::format("there is no suite '{}'", words[1]));
  Rule rule{.drops = words[0] == "drop", .suite = *suite, .family = words[2], .choices = {}, .absent_keys = {}};
  for (std::size_t i = kFixedWords; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t colon = word.find(':');
    if (word.starts_with('-') && word.size() > 1 && colon == std::string::npos) {
      rule.absent_keys.push_back(word.substr(1));
    } else if (colon != 0 && colon != std::string::npos && colon + 1 < word.size()) {
      rule.choices.push_back({word.substr(0, colon), split(word.substr(colon + 1), ',')});
    } else {
      throw wrong(fmt::format("'{}' is neither KEY:VALUE nor -KEY", word));
    }
  }
  return rule;
}

RetiredCases RetiredCases::parse(std::string_view text, std::string_view name) {
  RetiredCases cases;
  std::size_t number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    const std::vector<std::string> words = words_of(line);
    if (!words.empty()) cases.rules_.push_back(parse_rule(words, fmt::format("{}:{}", name, number)));
  }
  return cases;
}

bool RetiredCases::contain(Suite suite, const CaseId& id) const {
  const auto rule = std::ranges::find_if(rules_, [&](const Rule& candidate) {
    return candidate.suite == suite && candidate.family == id.family() && candidate.fits(id);
  });
  return rule != rules_.end() && rule->drops;
}

const RetiredCases& retired_cases() {
  static const RetiredCases cases = [] {
    const EmbeddedFile& file = retired_files().front();
    return RetiredCases::parse(file.content, file.name);
  }();
  return cases;
}

}  // namespace tbench
