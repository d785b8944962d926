// The parts of a run's terminal output around its rows: short names for its cases, and its findings at the end.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/record.hpp"

namespace tbench::render {

/// Short names for the cases of one run: the family and the values that differ between its cases, `Model small bf16`.
class ShortNames {
 public:
  /// Whether numbers stand alone or after their keys, `Attention seq_len 512 flash`. Without a legend above the names,
  /// they need the keys.
  enum class Numbers { kAlone, kWithKeys };
  explicit ShortNames(std::span<const CaseId> cases, Numbers numbers = Numbers::kAlone);

  /// Returns one line per family, with the keys of the values in its names and the parameters that all its cases share:
  /// `Model size precision; all ctx:512 batch:4`.
  [[nodiscard]] const std::vector<std::string>& legend() const { return legend_; }
  /// Returns the short name of one of the cases; the whole name of any other case.
  [[nodiscard]] std::string operator()(const CaseId& id) const;
  /// Returns the number of terminal columns of the longest name.
  [[nodiscard]] std::size_t width() const { return width_; }

 private:
  Numbers numbers_;
  std::map<std::string, std::vector<std::string>> keys_;  // keys whose values differ, by family
  std::vector<std::string> legend_;
  std::size_t width_{};
};

/// A finding over the records of a run: how many cases the host limits, how many are not sharp, how many are above
/// their ceilings, or which case is nearest to its ceiling.
struct Finding {
  bool is_warning{};
  std::string text;
};
[[nodiscard]] std::vector<Finding> findings_of(std::span<const Record> records);

/// The files that a run writes, and the study that its tables belong to.
struct RunOutput {
  std::string path{};   // of the results file; empty if there is none
  std::string study{};  // as --tb_study; empty if there is none
  bool has_page{};      // whether --tb_page writes a page of the results
};

/// Returns the texts of the findings, and the command to run next.
[[nodiscard]] std::vector<std::string> findings_of(std::span<const Record> records, const RunOutput& output);

}  // namespace tbench::render
