// Short names and numbers of a comparison, for its output on a terminal.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/compare/comparison.hpp"
#include "tbench/render/table.hpp"

namespace tbench::compare {

/// Short names of cases: family and values, without the parameters that all cases of the family share; numbers other
/// than the context are joined: `Attention 8x1x64x1024 forward bf16 flash`.
class CaseNames {
 public:
  explicit CaseNames(const std::vector<CaseComparison>& cases);
  [[nodiscard]] std::string operator()(const CaseId& id) const;

 private:
  std::map<std::string, std::vector<CaseId::Parameter>> shared_;  // by family; only for families of several cases
};

/// Returns a ratio as a change in percent, without the unit: `+4.8` for 1.048; empty if the ratio is absent.
[[nodiscard]] std::string signed_percent(const std::optional<double>& ratio);

/// Returns the ratio that determines the outcome: the ratio of the device times if these were tested, otherwise the
/// ratio of the times.
[[nodiscard]] std::optional<double> judged_ratio(const CaseComparison& c);
/// Returns the 95 % interval of judged_ratio().
[[nodiscard]] std::optional<stats::Interval> judged_interval(const CaseComparison& c);

/// Returns the comparison's answer in a sentence: the cases that are wrong, slower or faster, and by how much, the most
/// severe outcome first.
[[nodiscard]] std::string answer_of(const Comparison& comparison);

/// Returns the sides, processes, GPU, host and builds in a sentence.
[[nodiscard]] std::string sides_of(const Comparison& comparison);

/// Returns the lines of a table whose last column has the cases' names. Leaves out spare columns rather than shorten
/// names. Below each case is its note, indented and wrapped.
/// @param cases  one per row of the table
[[nodiscard]] std::vector<std::string> lines_with_notes(const render::Table& table,
                                                        std::span<const CaseComparison* const> cases,
                                                        const CaseNames& names, std::size_t width);

}  // namespace tbench::compare
