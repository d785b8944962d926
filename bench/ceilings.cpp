#include "bench/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tbench::bench {
namespace {

const std::string kCeiling = "Ceiling";

const Family* ceiling_family_of(const std::vector<Family>& families) {
  const auto found = std::ranges::find_if(families, [](const Family& family) { return family.spec.name == kCeiling; });
  return found == families.end() ? nullptr : &*found;
}

/// The case that measures `what` in `regime`, or in the other one if it is not measured in that; nothing if in neither.
std::optional<CaseId> ceiling_case(const Family& family, const std::string& what, Regime regime) {
  const std::vector<std::string>& known = family.spec.keys.front().known;
  if (std::ranges::find(known, what) == known.end()) return std::nullopt;
  const Regime other = regime == Regime::kBurst ? Regime::kSustained : Regime::kBurst;
  for (const Regime measured : {regime, other}) {
    CaseId id{kCeiling, {{"what", what}, {"regime", std::string{to_string(measured)}}}};
    if (!family.spec.invalid_reason || !family.spec.invalid_reason(id)) return id;
  }
  return std::nullopt;
}

}  // namespace

bool is_ceiling(const CaseId& id) { return id.family() == kCeiling; }

std::vector<CaseId> ceilings_of(const std::vector<Family>& families, std::span<const CaseId> cases) {
  const Family* const ceilings = ceiling_family_of(families);
  std::vector<CaseId> needed;
  if (ceilings == nullptr) return needed;
  for (const CaseId& id : cases) {
    const Family& family = family_of(families, id);
    const std::optional<std::string> what = family.ceiling ? family.ceiling(id) : std::nullopt;
    if (!what) continue;
    std::optional<CaseId> ceiling = ceiling_case(*ceilings, *what, regime_of(family.spec, id));
    if (!ceiling) throw std::logic_error{fmt::format("{}: there is no ceiling '{}'", id.name(), *what)};
    if (std::ranges::find(needed, *ceiling) == needed.end()) needed.push_back(std::move(*ceiling));
  }
  return needed;
}

void MeasuredCeilings::learn(const Record& record, std::int64_t process) {
  if (!is_ceiling(record.id) || record.status != Status::kOk || !record.timing || !record.work) return;
  const CeilingNumerator amount = ceiling_numerator(*record.work);
  if (amount.value <= 0) return;
  const Rate rate{.per_second = amount.value / record.timing->median.value,
                  .l2 = record.timing->l2,
                  .is_of_bytes = amount.is_of_bytes};
  const auto [known, is_new] = rates_.try_emplace({process, record.id.name()}, rate);
  if (!is_new && rate.per_second > known->second.per_second) known->second = rate;
}

void MeasuredCeilings::hold(Record& record, std::int64_t process) const {
  if (!record.timing || !record.work || record.work->ceiling.empty()) return;
  const Family* const ceilings = ceiling_family_of(families_);
  if (ceilings == nullptr) return;
  const std::optional<CaseId> id = ceiling_case(*ceilings, record.work->ceiling, record.timing->regime);
  const auto rate = id ? rates_.find({process, id->name()}) : rates_.end();
  if (rate == rates_.end()) return;
  const bool is_served_by_cache = record.timing->l2 == L2State::kWarm && rate->second.l2 == L2State::kCold;
  if (rate->second.is_of_bytes && is_served_by_cache) return;
  record.ceiling_per_second = rate->second.per_second;
}

}  // namespace tbench::bench
