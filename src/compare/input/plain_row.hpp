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
  std::string name;       // the benchmark's; of a row that does not say, of the row
  std::string statistic;  // of an aggregate: `mean`, `median`
  /// family_index and per_family_instance_index: which benchmark of the program it is. Absent before version 1.5.4.
  std::optional<std::pair<std::int64_t, std::int64_t>> instance;
  std::optional<std::int64_t> repetition;
  std::int64_t repetitions{1};
  results::Replicate replicate;  // without a time the row was not measured: an error, a skip, or a row that is odd
};

/// Takes a row whatever it holds: one without a name is called `where`, one whose time is none (0, NaN, of an unknown
/// unit) counts as `unsupported` with that as its reason.
[[nodiscard]] PlainRow plain_row(const results::Json& entry, const std::string& where);

}  // namespace tbench::compare
