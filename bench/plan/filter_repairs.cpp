#include "bench/plan/filter_repairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/core/hints/regex_mistakes.hpp"
#include "tbench/core/text.hpp"

namespace tbench::bench {
namespace {

/// Returns `text` with `by` for every `what`.
std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// Returns `text` with one `what` where several follow each other.
std::string without_repeats(std::string text, const std::string& what) {
  for (std::size_t at = text.find(what + what); at != std::string::npos; at = text.find(what + what, at)) {
    text.erase(at, what.size());
  }
  return text;
}

std::string without_quotes(std::string filter) {
  for (const std::string_view mark : {"'", "\"", "`", "\u2018", "\u2019", "\u201c", "\u201d"}) {
    filter = replaced(std::move(filter), mark, "");
  }
  return filter;
}

std::string without_outer_spaces(const std::string& filter) {
  const std::size_t begin = filter.find_first_not_of(" \t\n");
  const std::size_t end = filter.find_last_not_of(" \t\n");
  return begin == std::string::npos ? filter : filter.substr(begin, end - begin + 1);
}

std::string from_glob(const std::string& filter) { return glob_as_regex(filter).value_or(filter); }

std::string spaces_as_wildcards(const std::string& filter) {
  return without_repeats(replaced(from_glob(without_outer_spaces(filter)), " ", ".*"), ".*");
}

/// Writes `Model Gemm` as `Model|Gemm`; leaves expressions with operators alone.
std::string spaces_as_alternatives(const std::string& filter) {
  const bool is_plain = filter.find_first_of("()[]{}*+?|^$\\&") == std::string::npos;
  return !is_plain ? filter : replaced(without_outer_spaces(filter), " ", "|");
}

std::string ampersands_as_wildcards(const std::string& filter) {
  return replaced(replaced(filter, "&&", "&"), "&", "/.*");
}

std::string colons_for_equals_signs(const std::string& filter) { return replaced(filter, "=", ":"); }

/// Writes `impl:a,b` as `impl:(a|b)`, `size:xl,ctx:512` as `size:xl/.*ctx:512`, and `Model,Gemm` as `Model|Gemm`.
std::string commas_as_alternatives(const std::string& filter) {
  const std::vector<std::string> pieces = split(filter, ',');
  std::string text = pieces.front();
  const std::size_t colon = text.rfind(':');
  bool is_in_group = false;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const bool has_key = pieces[i].find(':') != std::string::npos;
    if (colon != std::string::npos && !has_key && i == 1) {
      text.insert(colon + 1, "(");
      is_in_group = true;
    }
    text += (has_key ? "/.*" : "|") + without_outer_spaces(pieces[i]);
  }
  return is_in_group ? text + ")" : text;
}

std::string minus_for_negation(const std::string& filter) {
  for (const std::string_view negation : {"!", "~", "not "}) {
    if (filter.starts_with(negation)) return "-" + without_outer_spaces(filter.substr(negation.size()));
  }
  return filter;
}

std::string without_last_slash(const std::string& filter) {
  const bool is_anchored = filter.ends_with("/$");
  if (!is_anchored && !filter.ends_with('/')) return filter;
  return is_anchored ? filter.substr(0, filter.size() - 2) + "$" : filter.substr(0, filter.size() - 1);
}

std::string without_first_slash(const std::string& filter) {
  const std::size_t begin = filter.starts_with('^') ? 1 : 0;
  return filter.substr(begin).starts_with('/') ? filter.substr(0, begin) + filter.substr(begin + 1) : filter;
}

/// Removes what Google Benchmark appends to the names of its benchmarks.
std::string without_suffixes(const std::string& filter) {
  std::string name = filter;
  for (const std::string_view suffix : {"/iterations:1", "/manual_time", "/real_time", "/process_time"}) {
    name = replaced(std::move(name), suffix, "");
  }
  return name;
}

std::string without_double_slashes(const std::string& filter) { return replaced(filter, "//", "/"); }

std::string without_begin(const std::string& filter) { return filter.starts_with('^') ? filter.substr(1) : filter; }

std::string without_end(const std::string& filter) {
  return filter.ends_with('$') ? filter.substr(0, filter.size() - 1) : filter;
}

/// Writes `Attention.flash` as `Attention.*flash`, but leaves the points of numbers and of wildcards alone.
std::string points_as_wildcards(const std::string& filter) {
  std::string text;
  for (std::size_t at = 0; at < filter.size(); ++at) {
    const bool is_repeated =
        at + 1 < filter.size() && std::string_view{"*+?{"}.find(filter[at + 1]) != std::string_view::npos;
    text += filter[at];
    if (filter[at] == '.' && !is_repeated) text += '*';
  }
  return text;
}

/// Whether a repetition is repeated, as in `.**`, for which std::regex takes a time that grows exponentially.
bool repeats_a_repetition(std::string_view filter) {
  constexpr std::string_view kRepeats = "*+";
  return std::ranges::adjacent_find(filter, [&](char left, char right) {
           return kRepeats.find(left) != std::string_view::npos && kRepeats.find(right) != std::string_view::npos;
         }) != filter.end();
}

bool has_text(std::string_view filter) {
  return std::ranges::any_of(filter, [](unsigned char letter) { return std::isalnum(letter) != 0; });
}

struct Repair {
  std::string_view why;
  std::string (*rewrite)(const std::string&);
};

constexpr std::array kRepairs{
    Repair{"spaces at the ends are part of the expression", &without_outer_spaces},
    Repair{"a leading '-' selects the names that do not match", &minus_for_negation},
    Repair{"'*' repeats the character before it, and '.*' stands for any text", &from_glob},
    Repair{"a ':' joins a key and its value", &colons_for_equals_signs},
    Repair{"names have no commas", &commas_as_alternatives},
    Repair{"names have no spaces", &spaces_as_wildcards},
    Repair{"names have no spaces", &spaces_as_alternatives},
    Repair{"names have no '&'", &ampersands_as_wildcards},
    Repair{"no name begins with a slash", &without_first_slash},
    Repair{"names have no suffixes of Google Benchmark", &without_suffixes},
    Repair{"no name continues after the last slash", &without_last_slash},
    Repair{"names have no '//'", &without_double_slashes},
    Repair{"'^' is the beginning of a name, which is its family", &without_begin},
    Repair{"'$' is the end of a name, and names continue there", &without_end},
    Repair{"'.' stands for one character, and '.*' for any text", &points_as_wildcards},
};

}  // namespace

std::optional<std::string> explain_notation(const std::string& filter,
                                            const std::function<bool(const std::string& filter)>& matches) {
  if (const std::string bare = without_quotes(filter); bare != filter) {
    return fmt::format("the value holds quotation marks; give {}", bare);
  }
  for (const auto& [why, rewrite] : kRepairs) {
    const std::string rewritten = rewrite(filter);
    const bool can_match = rewritten != filter && has_text(rewritten) && !repeats_a_repetition(rewritten);
    if (can_match && matches(rewritten)) return fmt::format("{}; did you mean '{}'?", why, rewritten);
  }
  return std::nullopt;
}

}  // namespace tbench::bench
