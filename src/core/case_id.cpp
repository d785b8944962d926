#include "tbench/core/case_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <stdexcept>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench {

CaseId CaseId::parse(std::string_view name) {
  const std::vector<std::string> parts = split(name, '/');
  std::vector<Parameter> parameters;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t colon = parts[i].find(':');
    if (colon == 0 || colon == std::string::npos || colon + 1 == parts[i].size()) {
      throw std::invalid_argument{fmt::format("case name '{}': '{}' is not key:value", name, parts[i])};
    }
    parameters.emplace_back(parts[i].substr(0, colon), parts[i].substr(colon + 1));
  }
  if (parts.front().empty() || parameters.empty()) {
    throw std::invalid_argument{fmt::format("case name '{}': expected Family/key:value/...", name)};
  }
  return CaseId{parts.front(), std::move(parameters)};
}

std::string CaseId::name() const {
  std::string name = family_;
  for (const auto& [key, value] : parameters_) name += fmt::format("/{}:{}", key, value);
  return name;
}

const std::string* CaseId::find(std::string_view key) const {
  const auto found = std::ranges::find(parameters_, key, &Parameter::first);
  return found == parameters_.end() ? nullptr : &found->second;
}

bool CaseId::has(std::span<const Parameter> parameters) const {
  return std::ranges::all_of(
      parameters, [&](const auto& wanted) { return std::ranges::find(parameters_, wanted) != parameters_.end(); });
}

const std::string& CaseId::at(std::string_view key) const {
  if (const std::string* const value = find(key)) return *value;
  throw std::out_of_range{fmt::format("case '{}' has no key '{}'", name(), key)};
}

std::int64_t CaseId::int_at(std::string_view key) const {
  const std::optional<std::int64_t> value = parse_integer(at(key));
  if (!value) throw std::invalid_argument{fmt::format("case '{}': {} is not a whole number", name(), key)};
  return *value;
}

CaseFilter::CaseFilter(const std::string& expression, const std::string& flag) {
  const bool is_inverted = expression.starts_with('-');
  if (expression.empty()) {
    selects_ = [](const std::string&) { return true; };
    return;
  }
  try {
    selects_ = [is_inverted,
                pattern = std::regex{is_inverted ? expression.substr(1) : expression, std::regex::extended}](
                   const std::string& name) { return std::regex_search(name, pattern) != is_inverted; };
  } catch (const std::regex_error& error) {
    throw UsageError{fmt::format("{}: '{}' is not an extended regular expression: {}", flag, expression, error.what())};
  }
}

}  // namespace tbench
