// The cases, keys and captions of sections, for tables of cases and tables of rows (study_section.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "studies/engine/study_section.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {

std::vector<CaseId> cases_of(const StudyCells& cells, std::span<const CaseId::Parameter> only,
                             const std::string& family) {
  std::vector<CaseId> cases;
  std::ranges::copy_if(cells.cases, std::back_inserter(cases),
                       [&](const CaseId& id) { return id.has(only) && (family.empty() || id.family() == family); });
  return cases;
}

std::vector<StudyKey> keys_of(const CaseId& id, const render::Pivot& pivot) {
  std::vector<StudyKey> keys;
  for (const auto& [key, value] : id.parameters()) {
    if (std::ranges::find(pivot.common, key) != pivot.common.end()) {
      keys.push_back({.key = key, .shared = key_cell(key, value).text});
    } else if (std::ranges::find(pivot.row_keys, key) != pivot.row_keys.end()) {
      keys.push_back({.key = key});
    }
  }
  return keys;
}

bool are_unmeasured(std::span<const CaseId> cases, const CaseCells& cells) {
  return std::ranges::all_of(cases, [&](const CaseId& id) { return cells.records(id).empty(); });
}

StudyCell key_cell(const std::string& key, const std::string& value) {
  const std::optional<std::int64_t> bytes = key == "bytes" ? parse_integer(value) : std::nullopt;
  if (!bytes) return {.text = render::one_line(value)};
  return {.text = render::format_bytes(*bytes), .value = static_cast<double>(*bytes)};
}

std::string caption_of(const CaseId& id, const std::vector<std::string>& common, const std::string& caption) {
  std::vector<std::string> parts{id.family()};
  for (const std::string& key : common) parts.push_back(key + ":" + key_cell(key, id.at(key)).text);
  return fmt::format("{}. {}", join(parts, " "), caption);
}

}  // namespace tbench::studies
