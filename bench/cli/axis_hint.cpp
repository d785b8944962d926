#include "bench/cli/axis_hint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/families/family.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"

namespace tbench::bench {
namespace {

using Names = std::vector<std::string>;

/// An axis in any form: `ctx=512`, `Model/ctx=512`, `Model.ctx:512;1024`.
struct LooseAxis {
  std::string family;  // empty if there is none
  std::string key;
  std::string values;  // with commas
};

/// Turns other separators of values into commas, and drops brackets and quotation marks.
std::string with_commas(std::string_view text) {
  std::string values;
  for (const char letter : text) {
    if (std::string_view{"[](){}'\""}.find(letter) != std::string_view::npos) continue;
    const bool is_space_next_to_comma = letter == ' ' && (values.empty() || values.back() == ',');
    if (is_space_next_to_comma) continue;
    values += std::string_view{";| "}.find(letter) == std::string_view::npos ? letter : ',';
  }
  return values;
}

std::optional<LooseAxis> loosely_parsed(const std::string& text) {
  std::size_t equals = text.find('=');
  if (equals == std::string::npos) equals = text.rfind(':');
  if (equals == std::string::npos) return std::nullopt;
  const std::string name = text.substr(0, equals);
  const std::size_t separator = name.find_first_of("./:");
  const std::string values = with_commas(std::string_view{text}.substr(equals + 1));
  if (values.empty() || separator == 0 || separator + 1 == name.size()) return std::nullopt;
  if (separator == std::string::npos) return LooseAxis{.family = {}, .key = name, .values = values};
  return LooseAxis{.family = name.substr(0, separator), .key = name.substr(separator + 1), .values = values};
}

std::optional<std::string> key_of(const FamilySpec& family, const std::string& name) {
  Names keys;
  for (const KeySpec& key : family.keys) keys.push_back(key.key);
  return recognise_value(name, keys);
}

/// Returns the axis that a family has for these values: the first that takes them.
std::optional<std::string> axis_for(const FamilySpec& family, const std::string& values) {
  const std::string first = values.substr(0, values.find(','));
  for (const KeySpec& key : family.keys) {
    const bool is_known = std::ranges::find(key.known, first) != key.known.end();
    if (is_known || (key.known.empty() && parse_integer(first))) return key.key;
  }
  return std::nullopt;
}

std::string no_axis(const std::string& text, const LooseAxis& axis) {
  for (const Family& family : all_families({})) {
    if (family.spec.name != axis.key) continue;
    const std::optional<std::string> key = axis_for(family.spec, axis.values);
    if (key)
      return fmt::format("--tb_axis={}: no axis after '{}'; did you mean '{}.{}={}'?", text, axis.key, axis.key, *key,
                         axis.values);
  }
  return {};
}

std::string no_family(const std::string& text, const LooseAxis& axis) {
  if (std::string why = no_axis(text, axis); !why.empty()) return why;
  Names families;
  std::optional<std::string> key;
  for (const Family& family : all_families({})) {
    const std::optional<std::string> own = key_of(family.spec, axis.key);
    if (!key || (own == axis.key && key != own)) key = own;  // a key with the same name before a synonym
  }
  for (const Family& family : all_families({})) {
    if (key && std::ranges::find(family.spec.keys, *key, &KeySpec::key) != family.spec.keys.end()) {
      families.push_back(family.spec.name);
    }
  }
  if (!key) return {};
  return fmt::format("--tb_axis={}: no family before '{}'; did you mean '{}.{}={}'?", text, axis.key, families.front(),
                     *key, axis.values);
}

std::string other_separators(const std::string& text, const LooseAxis& axis) {
  const std::string meant = fmt::format("{}.{}={}", axis.family, axis.key, axis.values);
  if (meant == text) return {};
  return fmt::format("--tb_axis={}: not Family.key=value[,value...]; did you mean '{}'?", text, meant);
}

}  // namespace

AxisOverride parse_axis(const std::string& text) {
  const std::optional<LooseAxis> axis = loosely_parsed(text);
  const std::string why = !axis                  ? std::string{}
                          : axis->family.empty() ? no_family(text, *axis)
                                                 : other_separators(text, *axis);
  if (!why.empty()) throw UsageError{why};
  return parse_axis_override(text);
}

}  // namespace tbench::bench
