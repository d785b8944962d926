#include "tbench/core/hints/suggestions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "core/hints/synonyms.hpp"

namespace tbench {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kShortestPart = 3;  // shorter parts occur in too many names

bool is_letter_or_digit(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

bool is_letter(char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; }

/// Returns the words of `text` in lower case with `_` between them.
std::string in_words(std::string_view text) {
  std::string words{text};
  for (char& letter : words) {
    letter = letter == '-' || letter == ' ' || letter == ':'
                 ? '_'
                 : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return words;
}

std::string without_separators(std::string text) {
  std::erase(text, '_');
  return text;
}

std::string folded(std::string_view text) { return without_separators(in_words(text)); }

std::optional<std::string> same_but_for_case(std::string_view text, std::span<const std::string> candidates) {
  const auto found = std::ranges::find(candidates, folded(text), &folded);
  return found == candidates.end() ? std::nullopt : std::optional{*found};
}

std::optional<std::string> synonym(std::string_view text, std::span<const std::string> candidates) {
  const std::string wanted = folded(text);
  for (const Names& row : synonyms()) {
    if (std::ranges::find(row, wanted) == row.end()) continue;
    for (const std::string& name : row) {
      if (const auto found = same_but_for_case(name, candidates)) return found;
    }
  }
  return std::nullopt;
}

/// Returns the shortest candidate for which `fits` holds.
template <class Fits>
std::optional<std::string> shortest(std::span<const std::string> candidates, Fits fits) {
  std::optional<std::string> found;
  for (const std::string& candidate : candidates) {
    if (fits(candidate) && (!found || candidate.size() < found->size())) found = candidate;
  }
  return found;
}

std::optional<std::string> beginning_with(std::string_view text, std::span<const std::string> candidates) {
  const std::string begin = folded(text);
  const auto fits = [&](const std::string& candidate) { return folded(candidate).starts_with(begin); };
  const bool is_clear =
      begin.size() >= kShortestPart || (begin.size() > 1 && std::ranges::count_if(candidates, fits) == 1);
  return is_clear ? shortest(candidates, fits) : std::nullopt;
}

/// Returns the number of mistyped letters: insertions, deletions, substitutions and swaps of neighbours cost 1 each.
std::size_t mistyped_letters(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool are_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

/// Returns the number of mistyped letters, or nullopt if there are too many. Short names need the same first letter,
/// unless two letters are swapped: `tpu` is not a mistyped `cpu`.
std::optional<std::size_t> near_distance(const std::string& text, const std::string& candidate) {
  constexpr std::size_t kShort = 4;
  const std::size_t longest = std::max(text.size(), candidate.size());
  const std::size_t distance = mistyped_letters(text, candidate);
  const bool are_swapped =
      distance == 1 && text.size() == candidate.size() && std::ranges::is_permutation(text, candidate);
  if (are_swapped) return distance;
  if (text.size() <= kShort && !candidate.starts_with(text.front())) return std::nullopt;
  return distance <= std::max<std::size_t>(1, longest / 3) ? std::optional{distance} : std::nullopt;
}

std::optional<std::string> nearest_spelling(std::string_view text, std::span<const std::string> candidates) {
  const std::string wanted = folded(text);
  const bool is_number = std::ranges::all_of(wanted, [](char c) { return !is_letter(c); });
  if (is_number) return std::nullopt;
  std::optional<std::pair<std::size_t, std::string>> best;
  for (const std::string& candidate : candidates) {
    const std::optional<std::size_t> distance = near_distance(wanted, folded(candidate));
    if (distance && (!best || *distance < best->first)) best = {*distance, candidate};
  }
  return best ? std::optional{best->second} : std::nullopt;
}

/// Returns the shortest candidate with a word that begins with `text`. If there is none, returns the longest candidate
/// among the words of `text`.
std::optional<std::string> sharing_words(std::string_view text, std::span<const std::string> candidates) {
  const std::string wanted = "_" + in_words(text);
  if (text.size() < kShortestPart) return std::nullopt;
  if (auto found = shortest(candidates, [&](const std::string& candidate) {
        return ("_" + in_words(candidate)).find(wanted) != std::string::npos;
      })) {
    return found;
  }
  std::optional<std::string> found;
  for (const std::string& candidate : candidates) {
    if (candidate.size() < kShortestPart || (found && candidate.size() <= found->size())) continue;
    if ((wanted + "_").find("_" + in_words(candidate) + "_") != std::string::npos) found = candidate;
  }
  return found;
}

/// Returns a flag's name without dashes, with `_` between its words.
std::string without_dashes(std::string_view flag) {
  const auto begin = std::ranges::find_if(flag, &is_letter_or_digit);
  return in_words({begin, flag.end()});
}

/// Returns the prefix of a flag's name; empty if it has none.
std::string prefix_of(std::string_view flag) {
  const std::string name = without_dashes(flag);
  for (const std::string prefix : {"benchmark_", "tb_", "gtest_"}) {
    if (name.starts_with(prefix)) return prefix;
  }
  return {};
}

std::string bare(std::string_view flag) { return without_dashes(flag).substr(prefix_of(flag).size()); }

/// Returns the flag that begins with `typed`, is spelled like it or shares words with it, prefixes ignored.
std::optional<std::string> nearest_flag(std::string_view typed, std::span<const std::string> flags) {
  Names names;
  for (const std::string& flag : flags) names.push_back(bare(flag));
  for (const auto rule : {&beginning_with, &nearest_spelling, &sharing_words}) {
    const std::optional<std::string> found = rule(bare(typed), names);
    if (found) return flags[static_cast<std::size_t>(std::ranges::find(names, *found) - names.begin())];
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> recognise_value(std::string_view text, std::span<const std::string> candidates) {
  if (std::ranges::none_of(text, &is_letter_or_digit)) return std::nullopt;
  const auto found = same_but_for_case(text, candidates);
  return found ? found : synonym(text, candidates);
}

std::optional<std::string> suggest_value(std::string_view text, std::span<const std::string> candidates) {
  if (std::ranges::none_of(text, &is_letter_or_digit)) return std::nullopt;
  for (const auto rule : {&recognise_value, &beginning_with, &nearest_spelling, &sharing_words}) {
    if (auto found = rule(text, candidates)) return found;
  }
  return std::nullopt;
}

std::string did_you_mean_text(const std::optional<std::string>& suggestion) {
  return suggestion ? fmt::format("; did you mean '{}'?", *suggestion) : std::string{};
}

std::string did_you_mean_value(std::string_view text, std::span<const std::string> candidates) {
  return did_you_mean_text(suggest_value(text, candidates));
}

std::string with_suggestion(const std::string& message, std::string_view text, std::span<const std::string> candidates,
                            std::string_view what) {
  constexpr std::string_view kProgram = "transformer_bench: ";
  constexpr std::string_view kRest = ", ...)";
  constexpr std::size_t kColumns = 100 - kProgram.size() - kRest.size();
  if (const auto meant = suggest_value(text, candidates)) return message + did_you_mean_text(meant);
  std::string list = fmt::format("{} ({}: ", message, what);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string next = (i == 0 ? "" : ", ") + candidates[i];
    if (i > 0 && list.size() + next.size() > kColumns) return list + std::string{kRest};
    list += next;
  }
  return list + ")";
}

TypedFlag typed_flag(std::span<const std::string> words) {
  const std::string& word = words.front();
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos) {
    return {.name = word.substr(0, equals), .value = word.substr(equals + 1), .has_equals = true};
  }
  const bool has_value = word.starts_with('-') && words.size() > 1 && !words[1].starts_with('-');
  return {.name = word, .value = has_value ? words[1] : std::string{}, .is_separate = has_value};
}

std::optional<std::string> recognise_flag(std::string_view typed, std::span<const std::string> flags,
                                          std::span<const FlagSynonym> synonyms) {
  const std::string name = bare(typed);
  const auto same = std::ranges::find(flags, folded(name), [](const std::string& flag) { return folded(bare(flag)); });
  if (same != flags.end() && !name.empty()) return *same;
  const auto known = std::ranges::find(synonyms, name, &FlagSynonym::name);
  return known == synonyms.end() ? std::nullopt : std::optional<std::string>{known->flag};
}

std::optional<std::string> suggest_flag(std::string_view typed, std::span<const std::string> flags,
                                        std::span<const FlagSynonym> synonyms) {
  if (auto known = recognise_flag(typed, flags, synonyms)) return known;
  if (bare(typed).size() < kShortestPart) return std::nullopt;
  const std::string prefix = prefix_of(typed);
  Names of_prefix;
  std::ranges::copy_if(flags, std::back_inserter(of_prefix),
                       [&](const auto& flag) { return prefix_of(flag) == prefix; });
  const auto found = prefix.empty() ? std::nullopt : nearest_flag(typed, of_prefix);
  return found ? found : nearest_flag(typed, flags);
}

}  // namespace tbench
