// A family's records as a table: what they have in common in a caption, what varies in columns.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/report/summary.hpp"
#include "tbench/report/table.hpp"

namespace tbench::report {

struct FamilyTable {
  std::string caption;  // `Model, batch:4 precision:bf16, median ms`: family, common parameters, what a cell holds
  Table table;
};

/// Records of each family, families in order of their first record.
[[nodiscard]] std::vector<std::vector<Record>> group_by_family(std::span<const Record> records);

/// A row a record: its varying parameters, then summary_cells. A time that is `unstable` or `throttled` has its reason
/// in a last column `note`.
/// @param records  of one family, not empty
[[nodiscard]] FamilyTable family_table(std::span<const Record> records);

/// A row for each combination of the varying parameters outside `keys`, a column for each combination of values of
/// `keys`, each in order of appearance. A cell is the metric (of several repetitions, their median); `*` marks a time
/// that is `unstable` or `throttled`; a case without a time shows its status (`OOM`).
/// @param records  of one family, not empty
/// @param keys     parameters of the family, not empty
[[nodiscard]] FamilyTable pivot_table(std::span<const Record> records, std::span<const std::string> keys,
                                      Metric metric);

}  // namespace tbench::report
