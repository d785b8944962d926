#include "studies/engine/sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {

void NamedRange::add(double value, const std::string& of) {
  if (count == 0 || value < low) std::tie(low, of_low) = std::pair{value, of};
  if (count == 0 || value > high) std::tie(high, of_high) = std::pair{value, of};
  ++count;
}

std::string NamedRange::text(const std::string& unit) const {
  const auto shown = [&](double value, const std::string& of) {
    return fmt::format("{}{}{} ({})", render::format_number(value), unit.empty() ? "" : " ", unit, of);
  };
  return of_low == of_high ? shown(low, of_low) : fmt::format("{} to {}", shown(low, of_low), shown(high, of_high));
}

bool has_all(const CaseId& id, const std::vector<CaseId::Parameter>& parameters) {
  return std::ranges::all_of(parameters, [&](const CaseId::Parameter& parameter) {
    return value_or_empty(id, parameter.first) == parameter.second;
  });
}

std::optional<double> factor_over(const StudyMeasurements& all, const CaseId& id, const std::string& key,
                                  const std::string& base, const std::string& counter) {
  const auto own = median_of(all.records_of(id), counter);
  const auto of_base = median_of(all.records_of(with_value(id, key, base)), counter);
  return own && of_base && *own > 0 && *of_base > 0 ? std::optional{*of_base / *own} : std::nullopt;
}

std::optional<double> gain_over(const StudyMeasurements& all, const CaseId& id, const std::string& key,
                                const std::string& base) {
  return factor_over(all, id, key, base, "device_ms");
}

bool is_limited_by_host(const StudyMeasurements& all, const CaseId& id) {
  return std::ranges::any_of(all.records_of(id), [](const Record* record) {
    return record->timing && record->device && is_host_bound(*record);
  });
}

NamedRange range_over_sizes(const StudyMeasurements& all, const std::vector<CaseId::Parameter>& parameters,
                            const std::function<std::optional<double>(const CaseId&)>& figure) {
  NamedRange range;
  for (const CaseId& id : all.cases) {
    if (!has_all(id, parameters)) continue;
    if (const std::optional<double> value = figure(id)) range.add(*value, value_or_empty(id, "size"));
  }
  return range;
}

std::optional<Growth> growth_over(const StudyMeasurements& all, const std::string& key,
                                  const std::vector<CaseId::Parameter>& parameters,
                                  const std::function<std::optional<double>(const CaseId&)>& figure) {
  std::map<std::int64_t, double> values;
  for (const CaseId& id : all.cases) {
    const auto x = parse_integer(value_or_empty(id, key));
    if (!x || *x <= 0 || !has_all(id, parameters)) continue;
    const std::optional<double> value = figure(id);
    if (value && *value > 0) values.insert_or_assign(*x, *value);
  }
  if (values.size() < 2) return std::nullopt;
  const auto last = std::prev(values.end());
  const auto before = std::prev(last);
  const double ratio = static_cast<double>(last->first) / static_cast<double>(before->first);
  return Growth{.from = fmt::format("{}", before->first),
                .to = fmt::format("{}", last->first),
                .exponent = std::log(last->second / before->second) / std::log(ratio)};
}

}  // namespace tbench::studies
