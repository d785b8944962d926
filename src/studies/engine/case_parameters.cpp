#include "studies/engine/case_parameters.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tbench/core/text.hpp"

namespace tbench::studies {

CaseId without(const CaseId& id, std::span<const std::string_view> keys) {
  std::vector<CaseId::Parameter> rest = id.parameters();
  std::erase_if(rest, [&](const CaseId::Parameter& parameter) {
    return std::ranges::find(keys, std::string_view{parameter.first}) != keys.end();
  });
  return {id.family(), std::move(rest)};
}

CaseId without(const CaseId& id, std::initializer_list<std::string_view> keys) {
  return without(id, std::span{keys.begin(), keys.size()});
}

CaseId with_value(const CaseId& id, std::string_view key, const std::string& value) {
  std::vector<CaseId::Parameter> parameters = id.parameters();
  for (auto& [name, own] : parameters) {
    if (name == key) own = value;
  }
  return {id.family(), std::move(parameters)};
}

std::string value_or_empty(const CaseId& id, std::string_view key) {
  const std::string* const value = id.find(key);
  return value == nullptr ? "" : *value;
}

std::string keys_and_values(const CaseId& id) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : id.parameters()) parts.push_back(key + ":" + value);
  return join(parts, " ");
}

}  // namespace tbench::studies
