// The rows of plain Google Benchmark JSON as the cases that they measured. Each row is taken by itself: one that is odd
// leaves the others as they are.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compare/input/plain_row.hpp"
#include "tbench/results/measured_case.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::compare {

struct PlainCases {
  /// The cases in the file's order, by whole names; one replicate per repetition. Where the file has only the
  /// aggregates of a benchmark, the median of its repetitions, else their mean, is one replicate.
  std::vector<results::MeasuredCase> cases;
  std::vector<std::string> warnings;  // sentences without the file's name
};

class PlainRows {
 public:
  /// @param where  what to call a row without a name
  void add(const results::Json& entry, const std::string& where) { rows_.push_back(plain_row(entry, where)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Whether every row says that it is an aggregate.
  [[nodiscard]] bool are_aggregates() const;
  /// Several benchmarks may have one name: family_index tells them apart, else a repetition that was there before, else
  /// other rows between theirs. They are cases of their own, NAME, NAME#2 and so on, in the order of the file.
  [[nodiscard]] PlainCases cases() &&;

 private:
  std::vector<PlainRow> rows_;
};

}  // namespace tbench::compare
