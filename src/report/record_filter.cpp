#include "tbench/report/record_filter.hpp"

#include <fmt/format.h>

#include <regex>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/error.hpp"

namespace tbench::report {
namespace {

std::regex compile(const std::string& pattern) {
  try {
    return std::regex{pattern};
  } catch (const std::regex_error& error) {
    throw UsageError{fmt::format("--filter: '{}' is not a regular expression (ECMAScript): {}", pattern, error.what())};
  }
}

}  // namespace

std::vector<Record> select_records(std::span<const Record> records, const std::string& filter) {
  if (filter.empty()) return {records.begin(), records.end()};
  const std::regex pattern = compile(filter);
  std::vector<Record> selected;
  for (const Record& record : records) {
    if (std::regex_search(record.id.name(), pattern)) selected.push_back(record);
  }
  if (selected.empty()) {
    const std::string example =
        records.empty() ? "the file has no cases" : "the first case is " + records.front().id.name();
    throw UsageError{fmt::format("--filter: no case of {} matches '{}'; {}", records.size(), filter, example)};
  }
  return selected;
}

}  // namespace tbench::report
