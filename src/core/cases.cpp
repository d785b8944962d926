// The names of cases (case_id.hpp), and the tables of axes that expand into them (case_table.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <stdexcept>

#include "tbench/core/case_id.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/quantities.hpp"
#include "tbench/core/hints/regex_mistakes.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"

namespace tbench {
namespace {

// Far above any shape, and small enough for the product of two extents to fit 64 bits.
constexpr std::int64_t kLargestValue = std::int64_t{1} << 31;

std::vector<std::string> family_names(std::span<const FamilySpec> families) {
  std::vector<std::string> names;
  for (const FamilySpec& family : families) names.push_back(family.name);
  return names;
}

const FamilySpec& family_of(std::span<const FamilySpec> families, const std::string& name) {
  const auto found = std::ranges::find(families, name, &FamilySpec::name);
  if (found != families.end()) return *found;
  const std::vector<std::string> names = family_names(families);
  throw UsageError{with_suggestion(fmt::format("--tb_axis: no family '{}'", name), name, names, "families")};
}

const KeySpec& key_of(const FamilySpec& family, const std::string& key) {
  const auto found = std::ranges::find(family.keys, key, &KeySpec::key);
  if (found != family.keys.end()) return *found;
  std::vector<std::string> names;
  for (const KeySpec& spec : family.keys) names.push_back(spec.key);
  throw UsageError{
      with_suggestion(fmt::format("--tb_axis: family {} has no axis '{}'", family.name, key), key, names, "axes")};
}

void check_value(const FamilySpec& family, const KeySpec& key, const std::string& value) {
  if (!key.known.empty()) {
    if (std::ranges::find(key.known, value) != key.known.end()) return;
    throw UsageError{with_suggestion(fmt::format("--tb_axis={}.{}: unknown value '{}'", family.name, key.key, value),
                                     value, key.known, "values")};
  }
  const std::optional<std::int64_t> number = parse_integer(value);
  if (number && *number > kLargestValue) {
    throw UsageError{fmt::format("--tb_axis={}.{}: '{}' is above {}", family.name, key.key, value, kLargestValue)};
  }
  if (!number || *number <= 0 || value != fmt::format("{}", *number)) {
    const std::optional<std::int64_t> meant = count_in(value, 1024);  // 4k tokens are 4096
    throw UsageError{fmt::format("--tb_axis={}.{}: '{}' is not a positive whole number{}", family.name, key.key, value,
                                 meant && *meant > 0 ? did_you_mean_text(std::to_string(*meant)) : "")};
  }
}

/// Returns the axes, with the user's values instead of their own.
std::vector<Axis> replaced(const std::string& family, std::vector<Axis> axes, std::span<const AxisOverride> overrides) {
  for (const AxisOverride& change : overrides) {
    if (change.family != family) continue;
    const auto axis = std::ranges::find(axes, change.axis.key, &Axis::key);
    if (axis != axes.end()) axis->values = change.axis.values;
  }
  return axes;
}

void check_overrides(std::span<const FamilySpec> families, std::span<const AxisOverride> overrides) {
  for (const AxisOverride& change : overrides) {
    const FamilySpec& family = family_of(families, change.family);
    const KeySpec& key = key_of(family, change.axis.key);
    for (const std::string& value : change.axis.values) check_value(family, key, value);
  }
}

/// Adds the family's tables of the suite. The course grids get the user's values.
void add_grids(const FamilySpec& family, Suite suite, std::span<const AxisOverride> overrides,
               std::vector<FamilyGrid>& grids) {
  for (const CaseTable& table : family.tables) {
    if (table.suite != suite) continue;
    const auto changes = table.is_course_grid ? overrides : std::span<const AxisOverride>{};
    grids.push_back({family.name, replaced(family.name, table.axes, changes)});
  }
}

/// Calls `visit` with every combination of values, the last axis varying fastest.
void for_each_cell(const std::vector<Axis>& axes, const std::function<void(std::vector<CaseId::Parameter>)>& visit) {
  std::vector<CaseId::Parameter> cell;
  const std::function<void(std::size_t)> descend = [&](std::size_t depth) {
    if (depth == axes.size()) return visit(cell);
    const Axis& axis = axes[depth];
    for (const std::string& value : axis.values) {
      const bool is_named = value != axis.unnamed;
      if (is_named) cell.emplace_back(axis.key, value);
      descend(depth + 1);
      if (is_named) cell.pop_back();
    }
  };
  descend(0);
}

}  // namespace

CaseId CaseId::parse(std::string_view name) {
  const std::vector<std::string> parts = split(name, '/');
  std::vector<Parameter> parameters;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t colon = parts[i].find(':');
    if (colon == 0 || colon == std::string::npos || colon + 1 == parts[i].size()) {
      throw std::invalid_argument{fmt::format("case name '{}': '{}' is not key:value", name, parts[i])};
    }
    parameters.emplace_back(parts[i].substr(0, colon), parts[i].substr(colon + 1));
  }
  if (parts.front().empty() || parameters.empty()) {
    throw std::invalid_argument{fmt::format("case name '{}': expected Family/key:value/...", name)};
  }
  return CaseId{parts.front(), std::move(parameters)};
}

std::string CaseId::name() const {
  std::string name = family_;
  for (const auto& [key, value] : parameters_) name += fmt::format("/{}:{}", key, value);
  return name;
}

const std::string* CaseId::find(std::string_view key) const {
  const auto found = std::ranges::find(parameters_, key, &Parameter::first);
  return found == parameters_.end() ? nullptr : &found->second;
}

bool CaseId::has(std::span<const Parameter> parameters) const {
  return std::ranges::all_of(
      parameters, [&](const auto& wanted) { return std::ranges::find(parameters_, wanted) != parameters_.end(); });
}

const std::string& CaseId::at(std::string_view key) const {
  if (const std::string* const value = find(key)) return *value;
  throw std::out_of_range{fmt::format("case '{}' has no key '{}'", name(), key)};
}

std::int64_t CaseId::int_at(std::string_view key) const {
  const std::optional<std::int64_t> value = parse_integer(at(key));
  if (!value) throw std::invalid_argument{fmt::format("case '{}': {} is not a whole number", name(), key)};
  return *value;
}

namespace {

// std::regex uses one stack frame per character of the name, and one per group of the expression.
constexpr std::size_t kMaxName = 1024;
constexpr std::size_t kMaxExpression = std::size_t{64} << 10;
constexpr int kMaxGroups = 100;  // nested groups

void check_expression(const std::string& expression, const std::string& flag) {
  int depth = 0;
  int deepest = 0;
  for (const char c : expression) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    deepest = std::max(deepest, depth);
  }
  if (expression.size() <= kMaxExpression && deepest <= kMaxGroups) return;
  throw UsageError{
      fmt::format("{}: an expression of {} bytes, with {} groups one in the other; at most {} bytes and {} groups",
                  flag, expression.size(), deepest, kMaxExpression, kMaxGroups)};
}

void check_name(const std::string& name) {
  if (name.size() <= kMaxName) return;
  throw UsageError{
      fmt::format("a case's name has {} bytes, at most {}: '{}...'. Give results that transformer_bench wrote.",
                  name.size(), kMaxName, name.substr(0, 100))};
}

}  // namespace

CaseFilter::CaseFilter(const std::string& expression, const std::string& flag) {
  const bool is_inverted = expression.starts_with('-');
  check_expression(expression, flag);
  if (expression.empty()) {
    selects_ = [](const std::string&) { return true; };
    return;
  }
  try {
    selects_ = [is_inverted, pattern = std::regex{is_inverted ? expression.substr(1) : expression,
                                                  std::regex::extended}](const std::string& name) {
      check_name(name);
      return std::regex_search(name, pattern) != is_inverted;
    };
  } catch (const std::regex_error& error) {
    throw UsageError{fmt::format("{}: '{}' is not an extended regular expression: {}", flag, expression,
                                 explain_regex_error(expression).value_or(error.what()))};
  }
}

Regime regime_of(const FamilySpec& family, const CaseId& id) {
  const auto own = std::ranges::find(id.parameters(), "regime", &CaseId::Parameter::first);
  return own == id.parameters().end() ? family.regime : parse_enum<Regime>(own->second).value();
}

AxisOverride parse_axis_override(std::string_view text, std::string_view flag) {
  const auto wrong = [&](std::string_view what) {
    return UsageError{
        fmt::format("{}={}: {}; expected Family.key=value[,value...], e.g. Model.ctx=2048,4096", flag, text, what)};
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) throw wrong("no '='");
  const std::size_t dot = text.substr(0, equals).find('.');
  if (dot == std::string_view::npos) throw wrong("no '.' between family and axis");
  AxisOverride change{std::string{text.substr(0, dot)},
                      Axis{std::string{text.substr(dot + 1, equals - dot - 1)}, split(text.substr(equals + 1), ',')}};
  for (const std::string& value : change.axis.values) {
    if (value.empty()) throw wrong("an empty value");
  }
  return change;
}

std::vector<CaseId> expand(std::span<const FamilySpec> families, Suite suite, std::span<const AxisOverride> overrides) {
  check_overrides(families, overrides);
  std::vector<FamilyGrid> grids;
  for (const FamilySpec& family : families) {
    add_grids(family, suite, overrides, grids);
    if (suite == Suite::kFull) add_grids(family, Suite::kStandard, overrides, grids);
  }
  return expand(families, grids, {});
}

std::vector<CaseId> expand(std::span<const FamilySpec> families, std::span<const FamilyGrid> grids,
                           std::span<const AxisOverride> overrides) {
  check_overrides(families, overrides);
  std::vector<CaseId> cases = cells_of(grids, overrides);
  std::erase_if(cases, [&](const CaseId& id) {
    const auto family = std::ranges::find(families, id.family(), &FamilySpec::name);
    return family != families.end() && family->is_passed_over && family->is_passed_over(id);
  });
  for (const CaseId& id : cases) {
    const auto family = std::ranges::find(families, id.family(), &FamilySpec::name);
    if (family == families.end()) {
      throw UsageError{fmt::format("{}: this program has no family '{}' (families: {})", id.name(), id.family(),
                                   join(family_names(families), ", "))};
    }
    if (const auto reason = family->invalid_reason ? family->invalid_reason(id) : std::nullopt) {
      throw UsageError{fmt::format("{}: {}", id.name(), *reason)};
    }
  }
  return cases;
}

std::vector<CaseId> cells_of(std::span<const FamilyGrid> grids, std::span<const AxisOverride> overrides) {
  std::vector<CaseId> cases;
  std::set<std::string> seen;
  for (const FamilyGrid& grid : grids) {
    for_each_cell(replaced(grid.family, grid.axes, overrides), [&](std::vector<CaseId::Parameter> cell) {
      CaseId id{grid.family, std::move(cell)};
      if (seen.insert(id.name()).second) cases.push_back(std::move(id));
    });
  }
  return cases;
}

}  // namespace tbench
