#include "tbench/core/hints/regex_mistakes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "tbench/core/hints/suggestions.hpp"

namespace tbench {
namespace {

constexpr std::string_view kRepeats = "*+?";

bool is_letter_or_digit(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

/// Returns the contents of the shell's `{a,b}` that begins at `text`; nullopt for a number of repetitions.
std::optional<std::string_view> alternatives_at(std::string_view text) {
  const std::size_t end = text.find('}');
  if (!text.starts_with('{') || end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = text.substr(1, end - 1);
  const bool is_number = std::ranges::all_of(inside, [](char c) { return c == ',' || (c >= '0' && c <= '9'); });
  return is_number || inside.find(',') == std::string_view::npos ? std::nullopt : std::optional{inside};
}

std::string joined_with_bars(std::string_view alternatives) {
  std::string group{alternatives};
  std::ranges::replace(group, ',', '|');
  return "(" + group + ")";
}

/// Returns the position of the `]` that closes the set `[...]` at `at`, or nullopt if none does.
std::optional<std::size_t> end_of_set(std::string_view text, std::size_t at) {
  std::size_t next = at + (text.substr(at).starts_with("[^") ? 2 : 1);
  if (next < text.size() && text[next] == ']') ++next;  // the first character is one of the set
  while (next < text.size() && text[next] != ']') {
    const bool is_class = text.substr(next).starts_with("[:");
    const std::size_t end = is_class ? text.find(":]", next) : next - 1;
    if (end == std::string_view::npos) return std::nullopt;
    next = end + 2;
  }
  return next < text.size() ? std::optional{next} : std::nullopt;
}

std::string with_escape(std::string_view text, std::size_t at) {
  return fmt::format("{}\\{}", text.substr(0, at), text.substr(at));
}

std::optional<std::string> explain_escape(std::string_view text, std::size_t at) {
  constexpr std::array<std::pair<char, std::string_view>, 4> kClasses{
      {{'d', "[0-9]"}, {'w', "[[:alnum:]_]"}, {'s', "[[:space:]]"}, {'D', "[^0-9]"}}};
  constexpr std::string_view kSpecial = R"(.[]{}()*+?^$|\)";
  if (at + 1 == text.size()) return "it ends in '\\', which escapes nothing";
  const char letter = text[at + 1];
  if (kSpecial.find(letter) != std::string_view::npos) return std::nullopt;
  const auto found = std::ranges::find(kClasses, letter, &std::pair<char, std::string_view>::first);
  const bool is_class = found != kClasses.end();
  if (!is_class && is_letter_or_digit(letter)) return fmt::format("'\\{}' is not part of it", letter);
  std::string written{text};
  written.replace(at, 2, is_class ? std::string{found->second} : std::string{letter});
  return fmt::format("'\\{}' is not part of it{}", letter, did_you_mean_text(written));
}

std::optional<std::string> explain_group(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("(?!")) return "'(?!' is not part of it; a leading '-' selects the names that do not match";
  if (rest.starts_with("(?i)")) return "'(?i)' is not part of it; names are case-sensitive";
  if (rest.starts_with("(?"))
    return fmt::format("'{}' is not part of it; write '('", rest.substr(0, std::min<std::size_t>(3, rest.size())));
  return std::nullopt;
}

/// Returns why the repetition at `at` repeats nothing, or nullopt if something precedes it.
std::optional<std::string> explain_repeat(std::string_view text, std::size_t at) {
  const std::size_t begin = text.starts_with('-') ? 1 : 0;
  const bool repeats_nothing =
      at == begin || (at > 0 && std::string_view{"(|^"}.find(text[at - 1]) != std::string_view::npos);
  if (!repeats_nothing) return std::nullopt;
  return fmt::format("'{}'{} repeats nothing{}", text[at], at == begin ? " at its beginning" : "",
                     did_you_mean_text(glob_as_regex(text)));
}

std::optional<std::string> explain_braces(std::string_view text, std::size_t at) {
  if (alternatives_at(text.substr(at)))
    return fmt::format("'{{' begins a number of repetitions{}", did_you_mean_text(glob_as_regex(text)));
  const std::size_t end = text.find_first_not_of("0123456789,", at + 1);
  if (end != std::string_view::npos && text[end] == '}' && end > at + 1) return std::nullopt;
  return fmt::format("'{{' begins a number of repetitions, as in {{2}}; '\\{{' is the character{}",
                     did_you_mean_text(with_escape(text, at)));
}

}  // namespace

std::optional<std::string> glob_as_regex(std::string_view text) {
  std::string regex;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto alternatives = alternatives_at(text.substr(at));
    const bool is_wildcard =
        text[at] == '*' && (at == 0 || std::string_view{".)]}\\*"}.find(text[at - 1]) == std::string_view::npos);
    const bool repeats_wildcard = text[at] == '*' && at > 0 && text[at - 1] == '*';
    if (repeats_wildcard) continue;
    if (alternatives)
      regex += joined_with_bars(*alternatives);
    else if (is_wildcard)
      regex += ".*";
    else
      regex += text[at];
    if (alternatives) at += alternatives->size() + 1;
  }
  while (regex.starts_with(".*")) regex.erase(0, 2);
  while (regex.ends_with(".*")) regex.erase(regex.size() - 2);
  if (regex.empty() || regex == text || kRepeats.find(regex.front()) != std::string_view::npos) return std::nullopt;
  return regex;
}

std::optional<std::string> explain_regex_error(std::string_view expression) {
  int depth = 0;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const char letter = expression[at];
    std::optional<std::string> why;
    if (letter == '\\') why = explain_escape(expression, at);
    if (letter == '(') why = explain_group(expression, at);
    if (letter == '{') why = explain_braces(expression, at);
    if (kRepeats.find(letter) != std::string_view::npos) why = explain_repeat(expression, at);
    if (why) return why;
    if (letter == '\\') ++at;
    if (letter == '[') {
      const std::optional<std::size_t> end = end_of_set(expression, at);
      if (!end) return R"('[' has no ']'; '\[' is the character)";
      at = *end;
    }
    if (letter == '(') ++depth;
    if (letter == ')' && depth-- == 0) return R"(')' has no '('; '\)' is the character)";
  }
  if (depth == 0) return std::nullopt;
  return R"('(' has no ')'; '\(' is the character)";
}

}  // namespace tbench
