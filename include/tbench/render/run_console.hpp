// The parts of a run's terminal output that are not its rows: short names for its cases, and its findings at the end.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/record.hpp"

namespace tbench::render {

/// Names of the cases of one run without what they share: the family and the values that differ, `Model small bf16`.
class ShortNames {
 public:
  /// Numbers need their keys where no legend stands above the names: `Attention seq_len 512 flash`.
  enum class Numbers { kAlone, kWithKeys };
  explicit ShortNames(std::span<const CaseId> cases, Numbers numbers = Numbers::kAlone);

  /// One line a family, which says what the values are and what all its cases share:
  /// `Model size precision; all ctx:512 batch:4`.
  [[nodiscard]] const std::vector<std::string>& legend() const { return legend_; }
  /// Returns the short name of one of the cases; the whole name of any other case.
  [[nodiscard]] std::string operator()(const CaseId& id) const;
  /// Columns that the longest one takes.
  [[nodiscard]] std::size_t width() const { return width_; }

 private:
  Numbers numbers_;
  std::map<std::string, std::vector<std::string>> keys_;  // by family: those whose values differ
  std::vector<std::string> legend_;
  std::size_t width_{};
};

/// Findings over the records of a run, one per line: how many cases the host limits, how many are not sharp, how many
/// are above their ceiling, which is nearest to its own.
struct Finding {
  bool is_warning{};
  std::string text;
};
[[nodiscard]] std::vector<Finding> findings_of(std::span<const Record> records);

/// The same as texts, and the command to go on with.
/// @param path  of the results file, where there is one
[[nodiscard]] std::vector<std::string> findings_of(std::span<const Record> records,
                                                   const std::optional<std::string>& path);

}  // namespace tbench::render
