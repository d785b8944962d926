#include "tbench/profile/range_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/ranges.hpp"
#include "tbench/core/error.hpp"

namespace tbench::profile {
namespace {

constexpr char kAny = '*';

/// Returns the part of the text for which the `*` of the pattern stands. The part is empty for a pattern without `*`.
/// Returns nullopt if the text does not match.
std::optional<std::string_view> matched(std::string_view text, std::string_view pattern) {
  const std::size_t star = pattern.find(kAny);
  if (star == std::string_view::npos) return text == pattern ? std::optional{std::string_view{}} : std::nullopt;
  const std::string_view before = pattern.substr(0, star);
  const std::string_view behind = pattern.substr(star + 1);
  if (text.size() < before.size() + behind.size()) return std::nullopt;
  if (!text.starts_with(before) || !text.ends_with(behind)) return std::nullopt;
  return text.substr(before.size(), text.size() - before.size() - behind.size());
}

std::string filled(const std::string& pattern, std::string_view any) {
  const std::size_t star = pattern.find(kAny);
  return star == std::string::npos ? pattern : std::string{pattern}.replace(star, 1, any);
}

/// Returns the new name by the first rename that matches, and the index of this rename, or nullopt if none matches.
std::optional<std::pair<std::string, std::size_t>> new_name(std::string_view name,
                                                            std::span<const RangeRename> renames) {
  for (std::size_t i = 0; i < renames.size(); ++i) {
    if (const auto any = matched(name, renames[i].from)) return std::pair{filled(renames[i].to, *any), i};
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& text, const std::string& problem) {
  throw UsageError{
      fmt::format("--map '{}': {}. Give 'THEIRS=OURS', e.g. --map 'train/fwd=FORWARD' or --map "
                  "'h.*.attn=attention'.",
                  text, problem)};
}

}  // namespace

RangeRename parse_range_rename(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos) refuse(text, "it has no '='");
  RangeRename rename{.from = text.substr(0, equals), .to = text.substr(equals + 1)};
  if (rename.from.empty() || rename.to.empty()) refuse(text, "a name is empty");
  const auto stars = std::ranges::count(rename.from, kAny);
  if (stars > 1) refuse(text, fmt::format("'{}' has {} '*', and one is allowed", rename.from, stars));
  if (std::ranges::count(rename.to, kAny) > stars) {
    refuse(text, fmt::format("'{}' has more '*' than '{}'", rename.to, rename.from));
  }
  return rename;
}

void rename_ranges(Trace& trace, std::span<const RangeRename> renames) {
  std::vector<Index> renamed(trace.names.size(), kNone);  // new index of each name
  std::vector<bool> is_used(renames.size());
  for (Range& range : trace.ranges) {
    Index& name = renamed[range.name];
    if (name == kNone) {
      const auto found = new_name(trace.names[range.name], renames);
      name = found ? static_cast<Index>(trace.names.size()) : range.name;
      if (found) {
        trace.names.push_back(found->first);
        is_used[found->second] = true;
      }
    }
    range.name = name;
  }
  const auto unused = std::ranges::find(is_used, false);
  if (unused == is_used.end()) return;
  const RangeRename& rename = renames[static_cast<std::size_t>(unused - is_used.begin())];
  throw UsageError{"--map: " + no_such_range(trace, rename.from)};
}

bool is_label(std::string_view label, std::string_view name) {
  const auto upper = [](char c) { return std::toupper(static_cast<unsigned char>(c)); };
  return std::ranges::equal(label, name, {}, upper, upper);
}

}  // namespace tbench::profile
