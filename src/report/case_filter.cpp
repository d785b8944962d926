#include "case_filter.hpp"

#include <fmt/format.h>

#include "tbench/core/error.hpp"

namespace tbench::report {

CaseFilter::CaseFilter(const std::string& pattern) : passes_all_{pattern.empty()} {
  try {
    pattern_ = std::regex{pattern};
  } catch (const std::regex_error& error) {
    throw UsageError{fmt::format("--filter: '{}' is not a regular expression (ECMAScript): {}", pattern, error.what())};
  }
}

bool CaseFilter::operator()(const std::string& name) const { return passes_all_ || std::regex_search(name, pattern_); }

}  // namespace tbench::report
