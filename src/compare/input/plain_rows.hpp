// Converts the rows of plain Google Benchmark JSON to cases. Each row is read by itself, so that a malformed row does
// not affect the others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compare/input/plain_row.hpp"
#include "tbench/results/measured_case.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::compare {

struct PlainCases {
  /// The cases in the file's order, with whole names and one replicate per repetition. If the file has only the
  /// aggregates of a benchmark, its median, or its mean if there is no median, is one replicate.
  std::vector<results::MeasuredCase> cases;
  std::vector<std::string> warnings;  // sentences without the file's name
};

class PlainRows {
 public:
  /// Adds a row.
  /// @param where  name for a row without a name
  void add(const results::Json& entry, const std::string& where) { rows_.push_back(plain_row(entry, where)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Returns whether all rows are aggregates.
  [[nodiscard]] bool are_aggregates() const;
  /// Returns the cases of the rows. Several benchmarks may have the same name. They are distinguished by family_index,
  /// or by a repetition that occurs again, or by other rows between their rows. They become separate cases, NAME,
  /// NAME#2 and so on, in the order of the file.
  [[nodiscard]] PlainCases cases() &&;

 private:
  std::vector<PlainRow> rows_;
};

}  // namespace tbench::compare
