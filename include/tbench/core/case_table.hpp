// Tables of axes that expand into the cases of a family, the user's changes to them (`--tb_axis`), and the cases that a
// run of a suite leaves out though its tables hold them (bench/retired.txt).
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
  /// The value whose cases do not have the key in their names; empty if all have it.
  std::string unnamed{};
};

/// One key of a family's names: what values it takes.
struct KeySpec {
  std::string key;
  /// The values that exist; empty for a key that takes any positive whole number.
  std::vector<std::string> known;
};

/// A grid: the product of its axes, in their order. Every table of a family has the same keys in the same order.
struct CaseTable {
  std::string name;
  Suite suite{};
  /// `--tb_axis` replaces values in these tables alone; tables of fixed shapes stay as they are.
  bool is_course_grid{};
  std::vector<Axis> axes;
};

/// Everything about a family that needs neither a GPU nor LibTorch.
struct FamilySpec {
  std::string name;
  std::vector<KeySpec> keys;
  std::vector<CaseTable> tables;
  /// Says why a combination of values makes no sense, or nothing. May be empty.
  std::function<std::optional<std::string>(const CaseId&)> invalid_reason;
  /// The combinations that a grid passes over: of a key that means something beside some values of another one alone.
  /// May be empty.
  std::function<bool(const CaseId&)> is_passed_over{};
  /// How its cases are timed. A family that times some in one way and some in the other has a key `regime`, whose value
  /// goes before this: see regime_of().
  Regime regime{Regime::kSustained};
  /// Each case is about one state of the L2 cache, which it prescribes: --tb_l2 is not for them, and no name says it.
  bool has_own_l2{};
};

/// How a case of the family is timed: as the value of its key `regime` says, else as the family does.
/// @throws  std::bad_optional_access  if that value is no regime
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

/// @param flag  that the text was given with, for the error
/// @throws      UsageError  if `text` is not `Family.key=value[,value...]`
[[nodiscard]] AxisOverride parse_axis_override(std::string_view text, std::string_view flag = "--tb_axis");

/// The cases of one suite's tables, without duplicates, in table order; `full` has the cases of `standard`, too, family
/// by family behind its own. Cases that a run of the suite leaves out are among them: see RetiredCases.
/// @throws  UsageError  for an override with an unknown family or key (names the nearest), a value that the key does
///                      not take, or a combination that makes no sense
[[nodiscard]] std::vector<CaseId> expand(std::span<const FamilySpec> families, Suite suite,
                                         std::span<const AxisOverride> overrides);

/// The cases of `grids`, without duplicates, in their order. An override replaces the axis in every grid of its family.
/// @throws  UsageError  as above; for a family that is not among `families`
[[nodiscard]] std::vector<CaseId> expand(std::span<const FamilySpec> families, std::span<const FamilyGrid> grids,
                                         std::span<const AxisOverride> overrides);

/// The cases of `grids` as above, for a program that knows no families: nothing is checked.
[[nodiscard]] std::vector<CaseId> cells_of(std::span<const FamilyGrid> grids, std::span<const AxisOverride> overrides);

class RetiredCases {
 public:
  /// @param text  lines as the head of bench/retired.txt explains them
  /// @param name  of the file, for errors
  /// @throws      UsageError  for a line that is not of that form, naming file, line and what is wrong
  [[nodiscard]] static RetiredCases parse(std::string_view text, std::string_view name);

  /// Whether a run of the suite leaves the case out.
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

/// The cases of bench/retired.txt.
[[nodiscard]] const RetiredCases& retired_cases();

}  // namespace tbench
