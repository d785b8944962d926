// What a run shows on a terminal besides its rows: short names for its cases, and at the end what it found.
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
  explicit ShortNames(std::span<const CaseId> cases);

  /// One line a family, which says what the values are and what all its cases share:
  /// `Model size precision; all ctx:512 batch:4`.
  [[nodiscard]] const std::vector<std::string>& legend() const { return legend_; }
  /// Of one of the cases; of another one its whole name.
  [[nodiscard]] std::string operator()(const CaseId& id) const;
  /// Columns that the longest one takes.
  [[nodiscard]] std::size_t width() const { return width_; }

 private:
  std::map<std::string, std::vector<std::string>> keys_;  // by family: those whose values differ
  std::vector<std::string> legend_;
  std::size_t width_{};
};

/// What the records of a run say together, a line each: how many cases the host limits, how many are not sharp, which
/// is nearest to its ceiling.
[[nodiscard]] std::vector<std::string> run_findings(std::span<const Record> records);

/// The same, and the command to go on with.
/// @param path  of the results file, where there is one
[[nodiscard]] std::vector<std::string> findings_of(std::span<const Record> records,
                                                   const std::optional<std::string>& path);

}  // namespace tbench::render
