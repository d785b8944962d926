// Finds the faults of a case that do not depend on other runs: failures, and speeds that no GPU has.
#include <fmt/format.h>

#include <algorithm>

#include "gate/judging_steps.hpp"
#include "tbench/compare/case_values.hpp"

namespace tbench::gate {
namespace {

constexpr double kMaxOfPeak = 1.02;     // ratio to the peak rate at the highest clock
constexpr double kMaxOfCeiling = 1.05;  // ratio to the ceiling of the same run; both are measured
constexpr std::int64_t kMinWrong = 2;   // number of processes; a single one may fail by chance

std::ptrdiff_t count_of_status(const results::MeasuredCase& c, Status status) {
  return std::ranges::count(c.replicates, status, &results::Replicate::status);
}

}  // namespace

std::optional<Outcome> failure_of(const results::MeasuredCase& c) {
  const Status worst = compare::worst_of(c).status;
  if (!compare::is_bad(worst)) return std::nullopt;
  const std::ptrdiff_t wrong = count_of_status(c, Status::kIncorrect);
  if (wrong == 0) return Outcome::kError;
  return wrong >= kMinWrong ? Outcome::kWrong : Outcome::kFlaky;
}

std::string failure_text(const results::MeasuredCase& c) {
  const results::Replicate& worst = compare::worst_of(c);
  return fmt::format("{} in {} of {} processes{}{}", to_string(worst.status), count_of_status(c, worst.status),
                     c.replicates.size(), worst.reason.empty() ? "" : ": ", worst.reason);
}

std::optional<std::string> impossible_speed(const results::MeasuredCase& c, const Environment& environment) {
  for (const results::Replicate& r : c.replicates) {
    if (r.ceiling_share && r.ceiling.starts_with("gemm_") && *r.ceiling_share > kMaxOfCeiling) {
      return fmt::format("{:.2f} times the ceiling {} of the same run: timing or formula is wrong", *r.ceiling_share,
                         r.ceiling);
    }
    if (!r.peak_share_at_clock || !r.sm_clock || !environment.gpu || !environment.gpu->max_sm_clock_hz) continue;
    const double share = *r.peak_share_at_clock * r.sm_clock->value / *environment.gpu->max_sm_clock_hz;
    if (share > kMaxOfPeak) {
      return fmt::format("{:.2f} times the GPU's peak at its highest clock: timing or formula is wrong", share);
    }
  }
  return std::nullopt;
}

void screen_failures(std::vector<CaseVerdict>& cases, const Environment& environment) {
  for (CaseVerdict& c : cases) {
    const std::optional<Outcome> failure = c.result.is_expected ? failure_of(*c.measured) : std::nullopt;
    const std::optional<std::string> impossible = impossible_speed(*c.measured, environment);
    c.result.outcome = failure ? *failure : impossible ? Outcome::kImpossible : Outcome::kNotJudged;
    if (failure) c.result.note = failure_text(*c.measured);
    if (!failure && impossible) c.result.note = *impossible;
    if (failure) c.result.found_by = "status";
  }
}

void screen_impossible(std::vector<CaseVerdict>& cases, const Environment& environment) {
  for (CaseVerdict& c : cases) {
    const std::optional<std::string> impossible = c.value ? impossible_speed(*c.measured, environment) : std::nullopt;
    if (!impossible) continue;
    c.is_suspect = c.creeps = c.creeps_clearly = c.is_split = false;
    c.result.outcome = Outcome::kImpossible;
    c.result.note = *impossible;
  }
}

}  // namespace tbench::gate
