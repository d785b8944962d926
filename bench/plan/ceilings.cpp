#include "bench/plan/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "tbench/core/run_order.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/cuda/flush_and_spin.hpp"

namespace tbench::bench {
namespace {

const std::string kCeiling = "Ceiling";
const std::string kLaunch = "launch";
const std::string kQueueGapName = "queue_gap";

/// The share of a time that a bare launch may take. With a larger share the time says little about the work: under 10
/// us if a launch takes 4 us, as on an H200.
constexpr double kResolvedLaunchShare = 0.4;

/// The plausible range of a queue gap. Outside it the traced and timed steps differed, or the host could not keep up.
constexpr Seconds kShortestQueueGap{0.2e-6};
constexpr Seconds kLongestQueueGap{5e-6};

const Family* ceiling_family_of(const std::vector<Family>& families) {
  const auto found = std::ranges::find_if(families, [](const Family& family) { return family.spec.name == kCeiling; });
  return found == families.end() ? nullptr : &*found;
}

/// Returns the case that measures `what` in `regime`, or in the other regime if there is none; nullopt if in neither.
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

/// Returns the regime whose ceiling a record is compared with. Bursts on a CPU have no L2 state, and no rests either.
Regime comparable_regime(const Timing& timing) {
  const Seconds sample = timing.median * static_cast<double>(timing.launches_per_sample);
  return timing.l2 && !cuda::is_rested_after(sample) ? Regime::kSustained : timing.regime;
}

bool is_queue_gap(const CaseId& id) { return is_ceiling(id) && id.at("what") == kQueueGapName; }

std::optional<Seconds> plausible_queue_gap(const Record& record) {
  const std::optional<Seconds> gap = measured_queue_gap(record);
  return gap && *gap >= kShortestQueueGap && *gap <= kLongestQueueGap ? gap : std::nullopt;
}

void add_once(std::vector<CaseId>& cases, std::optional<CaseId> id) {
  if (id && std::ranges::find(cases, *id) == cases.end()) cases.push_back(std::move(*id));
}

}  // namespace

std::vector<CaseId> ceilings_of(const std::vector<Family>& families, std::span<const CaseId> cases,
                                std::span<const CaseId> beside, bool on_gpu) {
  const Family* const ceilings = ceiling_family_of(families);
  std::vector<CaseId> needed;
  if (ceilings == nullptr) return needed;
  for (const CaseId& id : cases) {
    const Family& family = family_of(families, id);
    const std::optional<std::string> what = family.ceiling ? family.ceiling(id) : std::nullopt;
    if (!what) continue;
    const Regime regime = regime_of(family.spec, id);
    std::optional<CaseId> ceiling = ceiling_case(*ceilings, *what, regime);
    if (!ceiling) throw std::logic_error{fmt::format("{}: there is no ceiling '{}'", id.name(), *what)};
    add_once(needed, std::move(ceiling));
    if (!on_gpu) continue;
    if (regime == Regime::kSustained) add_once(needed, ceiling_case(*ceilings, kQueueGapName, regime));
    if (regime != Regime::kBurst) continue;
    add_once(needed, ceiling_case(*ceilings, *what, Regime::kSustained));
    add_once(needed, ceiling_case(*ceilings, kLaunch, Regime::kBurst));
  }
  for (const CaseId& id : beside) add_once(needed, id);
  return needed;
}

void MeasuredCeilings::learn(const Record& record, std::int64_t process) {
  if (!is_ceiling(record.id) || record.status != Status::kOk || !record.timing || !record.work) return;
  if (record.id.at("what") == kLaunch) return learn_launch(record, process);
  if (is_queue_gap(record.id)) return learn_queue_gap(record, process);
  const CeilingNumerator amount = ceiling_numerator(*record.work);
  if (amount.value <= 0) return;
  const Rate rate{.per_second = amount.value / record.timing->median.value,
                  .l2 = record.timing->l2,
                  .is_of_bytes = amount.is_of_bytes};
  const auto [known, is_new] = rates_.try_emplace({process, record.id.name()}, rate);
  if (!is_new && rate.per_second > known->second.per_second) known->second = rate;
}

void MeasuredCeilings::learn_launch(const Record& record, std::int64_t process) {
  const Launch launch{.time = record.timing->median, .l2 = record.timing->l2};
  const auto [known, is_new] = launches_.try_emplace(process, launch);
  if (!is_new && launch.time < known->second.time) known->second = launch;
}

void MeasuredCeilings::learn_queue_gap(const Record& record, std::int64_t process) {
  const std::optional<Seconds> gap = plausible_queue_gap(record);
  if (!gap) return;
  const auto [known, is_new] = queue_gaps_.try_emplace(process, *gap);
  if (!is_new && *gap < known->second) known->second = *gap;
}

void MeasuredCeilings::hold_against_launch(Record& record, std::int64_t process) const {
  Timing& timing = *record.timing;
  const auto launch = launches_.find(process);
  if (timing.regime != Regime::kBurst || launch == launches_.end() || launch->second.l2 != timing.l2) return;
  timing.resolution_limited = launch->second.time / timing.median > kResolvedLaunchShare;
  if (!record.ceiling_per_second) return;
  record.floor = launch->second.time + Seconds{ceiling_numerator(*record.work).value / *record.ceiling_per_second};
}

void MeasuredCeilings::hold(Record& record, std::int64_t process) const {
  if (record.timing && is_queue_gap(record.id)) record.queue_gap = plausible_queue_gap(record);
  if (!record.timing || !record.work || is_ceiling(record.id)) return;
  hold_against_ceiling(record, process);
  hold_against_launch(record, process);
  const auto gap = queue_gaps_.find(process);
  if (gap != queue_gaps_.end() && record.timing->regime == Regime::kSustained) record.queue_gap = gap->second;
}

void MeasuredCeilings::hold_against_ceiling(Record& record, std::int64_t process) const {
  if (record.work->ceiling.empty()) return;
  const Family* const ceilings = ceiling_family_of(families_);
  if (ceilings == nullptr) return;
  const std::optional<CaseId> id = ceiling_case(*ceilings, record.work->ceiling, comparable_regime(*record.timing));
  const auto rate = id ? rates_.find({process, id->name()}) : rates_.end();
  if (rate == rates_.end()) return;
  const bool is_served_by_cache = record.timing->l2 == L2State::kWarm && rate->second.l2 == L2State::kCold;
  if (rate->second.is_of_bytes && is_served_by_cache) return;
  record.ceiling_per_second = rate->second.per_second;
}

}  // namespace tbench::bench
