#include "tbench/report/record_filter.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "case_filter.hpp"
#include "tbench/core/error.hpp"

namespace tbench::report {
std::vector<Record> select_records(std::span<const Record> records, const std::string& filter) {
  if (filter.empty()) return {records.begin(), records.end()};
  const CaseFilter passes{filter};
  std::vector<Record> selected;
  for (const Record& record : records) {
    if (passes(record.id.name())) selected.push_back(record);
  }
  if (selected.empty()) {
    const std::string example =
        records.empty() ? "the file has no cases" : "the first case is " + records.front().id.name();
    throw UsageError{fmt::format("--filter: no case of {} matches '{}'; {}", records.size(), filter, example)};
  }
  return selected;
}

}  // namespace tbench::report
