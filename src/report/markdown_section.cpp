#include "tbench/report/markdown_section.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "tbench/core/error.hpp"

namespace tbench::report {
namespace {

/// Where `marker` begins.
std::size_t find_only(std::string_view document, const std::string& marker) {
  const std::size_t found = document.find(marker);
  if (found == std::string_view::npos) {
    throw UsageError{fmt::format("the marker '{}' is missing; put it where the table shall be", marker)};
  }
  if (document.find(marker, found + 1) != std::string_view::npos) {
    throw UsageError{fmt::format("the marker '{}' is there twice; leave one", marker)};
  }
  return found;
}

}  // namespace

std::string replace_section(std::string_view document, std::string_view name, std::string_view content) {
  const std::string opening = fmt::format("<!-- tbench:{} -->", name);
  const std::string closing = fmt::format("<!-- /tbench:{} -->", name);
  const std::size_t first = find_only(document, opening) + opening.size();
  const std::size_t last = find_only(document, closing);
  if (last < first) throw UsageError{fmt::format("the marker '{}' stands before '{}'; swap them", closing, opening)};
  return fmt::format("{}\n{}{}", document.substr(0, first), content, document.substr(last));
}

}  // namespace tbench::report
