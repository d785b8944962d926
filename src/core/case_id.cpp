#include "tbench/core/case_id.hpp"

#include <fmt/format.h>

#include <stdexcept>

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

const std::string& CaseId::at(std::string_view key) const {
  for (const auto& [candidate, value] : parameters_) {
    if (candidate == key) return value;
  }
  throw std::out_of_range{fmt::format("case '{}' has no key '{}'", name(), key)};
}

std::int64_t CaseId::int_at(std::string_view key) const {
  const std::optional<std::int64_t> value = parse_integer(at(key));
  if (!value) throw std::invalid_argument{fmt::format("case '{}': {} is not a whole number", name(), key)};
  return *value;
}

}  // namespace tbench
