// The vocabulary of tbench's conclusions: every command that judges uses these outcomes, in this order of gravity, with
// these exit statuses.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/enums.hpp"

namespace tbench::results {

/// The outcome of a case, or of a run as a whole: the gravest first.
enum class Outcome {
  kWrong,              // its results are wrong, and were wrong again
  kFlaky,              // its results were wrong, and right on the same data again
  kError,              // crashed, timed out or out of memory where it ran before
  kImpossible,         // faster than the GPU can be: the timing or the formula is wrong
  kRegressed,          // slower, and confirmed; or more memory
  kMissing,            // expected, and not in the run
  kSplit,              // slower in some of the run's processes alone
  kCreep,              // slower step by step over many runs
  kBlind,              // nothing was judged in many runs in a row, or an injected slowdown was not found
  kIncomplete,         // the run is not whole
  kReplayed,           // the samples are those of an earlier run
  kNullControlFailed,  // two runs of one build differ
  kUnconfirmed,        // looks slower; there is no kept build to confirm it with
  kLikelySlower,       // slower by more than two processes differ, from one process per side
  kEnvironment,        // the machine, or the way of measuring, is not that of the earlier runs
  kMachineChanged,     // the machine is another one from this run on, for good
  kUndecided,          // more processes would decide
  kNotJudged,          // no conclusion is possible
  kClock,              // the time moved, the clock cycles did not
  kHost,               // the time moved, the GPU's time in it did not
  kRetried,            // looked slower, but not when run again
  kNew,                // nothing to compare with
  kLikelyFaster,       // the mirror image of kLikelySlower
  kImproved,           // faster
  kSame
};
// Exit statuses of a command that judges. 2 is bad usage, or a file that cannot be read or written.
inline constexpr int kExitRegressed = 1;
inline constexpr int kExitNotComparable = 3;
inline constexpr int kExitUncertain = 4;  // with --strict alone
inline constexpr int kExitNullControlFailed = 5;
inline constexpr int kExitBlind = 6;
inline constexpr int kExitNotWhole = 7;

/// The summary of all outcomes.
enum class Headline { kPassed, kReview, kFailed };

/// The inverse of to_string; words of versions before are read as the outcomes that took their place (PASSED as SAME,
/// AMBIGUOUS as UNDECIDED, INVALID as NOT_JUDGED).
[[nodiscard]] std::optional<Outcome> parse_outcome(std::string_view text);

/// The exit status that it leads to with --strict: 0, or one of those above.
/// @param is_confirmed  by running the kept build and this one in turns: makes SPLIT and CREEP failures
[[nodiscard]] int exit_status_of(Outcome outcome, bool is_confirmed = false);
/// Whether it decides a command's exit status: an uncertain one with `strict` alone.
[[nodiscard]] bool is_failure(Outcome outcome, bool strict, bool is_confirmed = false);
/// FAILED where an exit status does not wait for --strict, REVIEW where it does, else PASSED.
[[nodiscard]] Headline headline_of_status(int status);
[[nodiscard]] Headline headline_of(Outcome outcome, bool is_confirmed = false);

/// The number of cases with each outcome, the gravest outcome first.
using OutcomeCounts = std::map<Outcome, std::size_t>;

}  // namespace tbench::results

template <>
struct tbench::EnumNames<tbench::results::Outcome> {
  static constexpr std::array<std::string_view, 25> kNames{
      "WRONG",       "FLAKY",         "ERROR",         "IMPOSSIBLE",
      "REGRESSED",   "MISSING",       "SPLIT",         "CREEP",
      "BLIND",       "INCOMPLETE",    "REPLAYED",      "NULL_CONTROL_FAILED",
      "UNCONFIRMED", "LIKELY_SLOWER", "ENVIRONMENT",   "MACHINE_CHANGED",
      "UNDECIDED",   "NOT_JUDGED",    "CLOCK",         "HOST",
      "RETRIED",     "NEW",           "LIKELY_FASTER", "IMPROVED",
      "SAME"};
};

template <>
struct tbench::EnumNames<tbench::results::Headline> {
  static constexpr std::array<std::string_view, 3> kNames{"PASSED", "REVIEW", "FAILED"};
};
