#include "studies/engine/measured_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "tbench/core/text.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::studies {
namespace {

constexpr std::int64_t kMinRanks = 2;

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

/// Returns the plug-ins for which the same file has cases of the family.
std::vector<results::UsedPlugin> plugins_of(std::span<const results::NamedResults> results, const std::string& family) {
  std::vector<results::UsedPlugin> plugins;
  for (const results::NamedResults& result : results) {
    for (results::UsedPlugin& plugin : results::used_plugins(result.file.environment)) {
      if (is_measured({&result, 1}, family, {"impl", plugin.name})) plugins.push_back(std::move(plugin));
    }
  }
  return plugins;
}

/// Returns the positive numbers that a key has in the files' cases, in ascending order.
/// @param family  the family of the cases; if empty, all families of the study
std::set<std::int64_t> measured_numbers(std::span<const results::NamedResults> results, const Study& study,
                                        const std::string& family, const std::string& key) {
  std::set<std::int64_t> numbers;
  for (const results::NamedResults& result : results) {
    for (const Record& record : result.file.records) {
      const std::string& own = record.id.family();
      const bool counts = family.empty() ? std::ranges::find(study.grids, own, &FamilyGrid::family) != study.grids.end()
                                         : own == family;
      const std::string* const value = counts ? record.id.find(key) : nullptr;
      const std::optional<std::int64_t> number = value != nullptr ? parse_integer(*value) : std::nullopt;
      if (number && *number > 0) numbers.insert(*number);
    }
  }
  return numbers;
}

}  // namespace

bool is_measured(std::span<const results::NamedResults> results, const std::string& family,
                 const CaseId::Parameter& value) {
  const auto has_value = [&](const Record& record) {
    return record.id.family() == family && record.id.has({&value, 1});
  };
  return std::ranges::any_of(results, [&](const results::NamedResults& result) {
    return std::ranges::any_of(result.file.records, has_value);
  });
}

std::vector<std::string> plugin_names(std::span<const results::NamedResults> results, const std::string& family) {
  std::vector<std::string> names;
  for (const results::UsedPlugin& plugin : plugins_of(results, family)) add_once(names, plugin.name);
  return names;
}

std::vector<std::string> plugin_files(std::span<const results::NamedResults> results, const Study& study) {
  std::vector<std::string> files;
  for (const std::string& family : study.open_to_plugins) {
    for (const results::UsedPlugin& plugin : plugins_of(results, family)) add_once(files, plugin.file);
  }
  return files;
}

std::vector<std::string> open_values(std::span<const results::NamedResults> results, const Study& study,
                                     const std::string& family, const std::string& key) {
  std::set<std::int64_t> numbers = measured_numbers(results, study, family, key);
  if (numbers.empty()) numbers = measured_numbers(results, study, "", key);
  if (numbers.empty()) numbers.insert(kMinRanks);
  std::vector<std::string> values;
  for (const std::int64_t number : numbers) values.push_back(fmt::format("{}", number));
  return values;
}

}  // namespace tbench::studies
