// One row of plain Google Benchmark JSON, of any version of the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tbench/results/measured_case.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::compare {

struct PlainRow {
  enum class Kind { kMeasurement, kAggregate, kUntold };  // kUntold: the library does not say which of the two

  Kind kind{};
  std::string name;       // name of the benchmark; name of the row if the row does not have it
  std::string statistic;  // statistic of an aggregate: `mean`, `median`
  /// family_index and per_family_instance_index, which identify a benchmark of the program. Absent before 1.5.4.
  std::optional<std::pair<std::int64_t, std::int64_t>> instance;
  std::optional<std::int64_t> repetition;
  std::int64_t repetitions{1};
  results::Replicate replicate;  // has no time if the row has an error, was skipped or is malformed
};

/// Reads any row. A row without a name is called `where`. A row without a valid time (0, NaN, an unknown unit) counts
/// as `unsupported`, with the problem as its reason.
[[nodiscard]] PlainRow plain_row(const results::Json& entry, const std::string& where);

}  // namespace tbench::compare
