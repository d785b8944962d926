#include "case_filter.hpp"

#include <fmt/format.h>

#include "tbench/core/error.hpp"

namespace tbench::report {

CaseFilter::CaseFilter(const std::string& pattern, const std::string& flag) : passes_all_{pattern.empty()} {
  try {
    pattern_ = std::regex{pattern};
  } catch (const std::regex_error& error) {
    throw UsageError{fmt::format("{}: '{}' is not a regular expression (ECMAScript): {}", flag, pattern, error.what())};
  }
}

bool CaseFilter::operator()(const std::string& name) const { return passes_all_ || std::regex_search(name, pattern_); }

}  // namespace tbench::report
