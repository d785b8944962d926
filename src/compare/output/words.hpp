// Names and numbers of a comparison, as short as its pages for a terminal need them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tbench/compare/comparison.hpp"

namespace tbench::compare {

/// Short names of cases: family and values, without the parameters that all cases of the family share; numbers other
/// than the context are joined: `Attention 8x1x64x1024 forward bf16 flash`.
class CaseNames {
 public:
  explicit CaseNames(const std::vector<CaseComparison>& cases);
  [[nodiscard]] std::string operator()(const CaseId& id) const;

 private:
  std::map<std::string, std::vector<CaseId::Parameter>> shared_;  // by family; of several cases
};

/// `+4.80 %` of 1.048; empty where there is none.
[[nodiscard]] std::string signed_percent(const std::optional<double>& ratio);

/// `1 case`, `12 cases`.
[[nodiscard]] std::string counted(std::size_t count, const std::string& one, const std::string& several);

/// The ratio that the outcome follows from: of device times where these were judged.
[[nodiscard]] std::optional<double> judged_ratio(const CaseComparison& c);
/// Its interval.
[[nodiscard]] std::optional<stats::Interval> judged_interval(const CaseComparison& c);

/// Returns the comparison's answer in a sentence: what is wrong, slower or faster, and by how much, the gravest first.
[[nodiscard]] std::string answer_of(const Comparison& comparison);

/// Sides, processes, GPU, host and builds, in a sentence.
[[nodiscard]] std::string sides_of(const Comparison& comparison);

}  // namespace tbench::compare
