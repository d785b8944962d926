#include "tbench/results/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tbench/core/error.hpp"

namespace tbench::results {
namespace {

/// The exit statuses with --strict, in the order of the outcomes.
constexpr std::array<int, kAllOf<Outcome>.size()> kExitStatuses{
    kExitRegressed,          // WRONG
    kExitRegressed,          // FLAKY
    kExitRegressed,          // ERROR
    kExitRegressed,          // IMPOSSIBLE
    kExitRegressed,          // REGRESSED
    kExitRegressed,          // MISSING
    kExitUncertain,          // SPLIT
    kExitUncertain,          // CREEP
    kExitBlind,              // BLIND
    kExitNotWhole,           // INCOMPLETE
    kExitNotWhole,           // REPLAYED
    kExitNullControlFailed,  // NULL_CONTROL_FAILED
    kExitUncertain,          // UNCONFIRMED
    kExitUncertain,          // LIKELY_SLOWER
    kExitUncertain,          // ENVIRONMENT
    kExitUncertain,          // MACHINE_CHANGED
    kExitUncertain,          // UNDECIDED
    kExitUncertain,          // NOT_JUDGED
    kExitUncertain,          // CLOCK
    kExitUncertain,          // HOST
    kExitOk,                 // RETRIED
    kExitOk,                 // NEW
    kExitOk,                 // LIKELY_FASTER
    kExitOk,                 // IMPROVED
    kExitOk                  // SAME
};

constexpr std::array<std::pair<std::string_view, Outcome>, 4> kFormerNames{{{"PASSED", Outcome::kSame},
                                                                            {"AMBIGUOUS", Outcome::kUndecided},
                                                                            {"INSUFFICIENT", Outcome::kUndecided},
                                                                            {"INVALID", Outcome::kNotJudged}}};

}  // namespace

std::optional<Outcome> parse_outcome(std::string_view text) {
  if (const auto outcome = parse_enum<Outcome>(text)) return outcome;
  const auto* const former = std::ranges::find(kFormerNames, text, &std::pair<std::string_view, Outcome>::first);
  return former == kFormerNames.end() ? std::nullopt : std::optional{former->second};
}

int exit_status_of(Outcome outcome, bool is_confirmed) {
  const bool may_be_confirmed = outcome == Outcome::kSplit || outcome == Outcome::kCreep;
  return may_be_confirmed && is_confirmed ? kExitRegressed : kExitStatuses.at(static_cast<std::size_t>(outcome));
}

bool is_failure(Outcome outcome, bool strict, bool is_confirmed) {
  const int status = exit_status_of(outcome, is_confirmed);
  return status != kExitOk && (strict || status != kExitUncertain);
}

Headline headline_of_status(int status) {
  if (status == kExitOk) return Headline::kPassed;
  return status == kExitUncertain ? Headline::kReview : Headline::kFailed;
}

Headline headline_of(Outcome outcome, bool is_confirmed) {
  return headline_of_status(exit_status_of(outcome, is_confirmed));
}

}  // namespace tbench::results
