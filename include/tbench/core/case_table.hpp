// Tables of axes that expand into the cases of a family, the user's changes to them (`--tb_axis`), and the retired
// cases (bench/retired.txt), which a run of a suite omits although its tables contain them.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/enums.hpp"

namespace tbench {

enum class Suite { kSmoke, kStandard, kFull };

template <>
struct EnumNames<Suite> {
  static constexpr std::array<std::string_view, 3> kNames{"smoke", "standard", "full"};
};

struct Axis {
  std::string key;
  std::vector<std::string> values;
  /// The value that case names omit, together with its key; empty if every name has the key.
  std::string unnamed{};
};

/// One key of a family's case names, with its permitted values.
struct KeySpec {
  std::string key;
  /// The permitted values; empty for a key that takes any positive whole number.
  std::vector<std::string> known;
};

/// A grid: the product of its axes, in their order. Every table of a family has the same keys in the same order.
struct CaseTable {
  std::string name;
  Suite suite{};
  /// Whether `--tb_axis` replaces values in this table. Tables of fixed shapes stay as they are.
  bool is_course_grid{};
  std::vector<Axis> axes;
};

/// Everything about a family that needs neither a GPU nor LibTorch.
struct FamilySpec {
  std::string name;
  std::vector<KeySpec> keys;
  std::vector<CaseTable> tables;
  /// Returns why a combination of values is invalid, or nullopt if it is valid. May be an empty function.
  std::function<std::optional<std::string>(const CaseId&)> invalid_reason;
  /// Returns whether a grid skips a combination, such as a key that has a meaning only with some values of another key.
  /// May be an empty function.
  std::function<bool(const CaseId&)> is_passed_over{};
  /// How the family's cases are timed, unless its key `regime` says otherwise: see regime_of().
  Regime regime{Regime::kSustained};
  /// Whether each case prescribes the state of the L2 cache: --tb_l2 does not apply, and case names omit the state.
  bool has_own_l2{};
};

/// Returns how a case of the family is timed: the value of its key `regime`, or the family's regime if it has no such
/// key.
/// @throws  std::bad_optional_access  if the value is not a regime
[[nodiscard]] Regime regime_of(const FamilySpec& family, const CaseId& id);

/// `Family.key=v1,v2`
struct AxisOverride {
  std::string family;
  Axis axis;
};

/// A grid that belongs to a study and to no suite. Its axes are the family's keys, in their order.
struct FamilyGrid {
  std::string family;
  std::vector<Axis> axes;
};

/// Parses the value of `--tb_axis`.
/// @param flag  the flag that the text was given with, for the error message
/// @throws      UsageError  if `text` is not `Family.key=value[,value...]`
[[nodiscard]] AxisOverride parse_axis_override(std::string_view text, std::string_view flag = "--tb_axis");

/// Returns the cases of one suite's tables, without duplicates, in table order. In `full`, each family's own cases are
/// followed by its cases of `standard`. Retired cases are included: see RetiredCases.
/// @throws  UsageError  for an override with an unknown family or key (the message names the nearest), a value that the
///                      key does not take, or an invalid combination
[[nodiscard]] std::vector<CaseId> expand(std::span<const FamilySpec> families, Suite suite,
                                         std::span<const AxisOverride> overrides);

/// Returns the cases of `grids`, without duplicates, in their order. An override replaces the axis in every grid of its
/// family.
/// @throws  UsageError  under the conditions above, and for a family that is not among `families`
[[nodiscard]] std::vector<CaseId> expand(std::span<const FamilySpec> families, std::span<const FamilyGrid> grids,
                                         std::span<const AxisOverride> overrides);

/// Returns the cases of `grids` without any check, for a program that has no families.
[[nodiscard]] std::vector<CaseId> cells_of(std::span<const FamilyGrid> grids, std::span<const AxisOverride> overrides);

class RetiredCases {
 public:
  /// Parses a file of retired cases.
  /// @param text  lines in the format that the head of bench/retired.txt describes
  /// @param name  name of the file, for error messages
  /// @throws      UsageError  for a malformed line; the message names the file, the line and the error
  [[nodiscard]] static RetiredCases parse(std::string_view text, std::string_view name);

  /// Returns whether a run of the suite omits the case.
  [[nodiscard]] bool contain(Suite suite, const CaseId& id) const;

 private:
  /// The values that one key may have.
  struct Choice {
    std::string key;
    std::vector<std::string> values;
  };
  struct Rule {
    bool drops{};
    Suite suite{};
    std::string family;
    std::vector<Choice> choices;
    std::vector<std::string> absent_keys;
    [[nodiscard]] bool fits(const CaseId& id) const;
  };
  [[nodiscard]] static Rule parse_rule(const std::vector<std::string>& words, std::string_view where);

  std::vector<Rule> rules_;
};

/// Returns the cases of bench/retired.txt.
[[nodiscard]] const RetiredCases& retired_cases();

}  // namespace tbench
