// The outcomes of tbench's evaluations in order of severity, with their exit statuses. All commands that reach a
// verdict use them.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/enums.hpp"

namespace tbench::results {

/// The outcome of a case, or of a run as a whole, the most severe first.
enum class Outcome {
  kWrong,              // its results are wrong, also when repeated
  kFlaky,              // its results were wrong, but right when repeated on the same data
  kError,              // crashed, timed out or out of memory, although it ran before
  kImpossible,         // faster than the GPU can be: the timing or the formula is wrong
  kRegressed,          // slower, and confirmed; or more memory
  kMissing,            // expected, but not in the run
  kSplit,              // slower in only some of the run's processes
  kCreep,              // slower step by step over many runs
  kBlind,              // no case could be evaluated in several runs in a row, or an injected slowdown was not found
  kIncomplete,         // the run is incomplete
  kReplayed,           // the samples are a copy of an earlier run's samples
  kNullControlFailed,  // two runs of the same build differ
  kUnconfirmed,        // looks slower; there is no kept build to confirm it with
  kLikelySlower,       // slower by more than two processes usually differ, with one process per side
  kEnvironment,        // the machine or the measuring method differs from the earlier runs
  kMachineChanged,     // the machine was permanently replaced with this run
  kUndecided,          // more processes would decide
  kNotJudged,          // no conclusion is possible
  kClock,              // the time changed, but not the clock cycles
  kHost,               // the time changed, but not the GPU's time
  kRetried,            // looked slower, but not when run again
  kNew,                // nothing to compare with
  kLikelyFaster,       // the mirror image of kLikelySlower
  kImproved,           // faster
  kSame
};
// Exit statuses of commands that reach a verdict. Status 2 means bad usage, or a file that cannot be read or written.
inline constexpr int kExitRegressed = 1;
inline constexpr int kExitNotComparable = 3;
inline constexpr int kExitUncertain = 4;  // only with --strict
inline constexpr int kExitNullControlFailed = 5;
inline constexpr int kExitBlind = 6;
inline constexpr int kExitNotWhole = 7;

/// The summary of all outcomes.
enum class Headline { kPassed, kReview, kFailed };

/// Parses the name of an outcome. Reads names of earlier versions as their replacements: PASSED as SAME, AMBIGUOUS and
/// INSUFFICIENT as UNDECIDED, INVALID as NOT_JUDGED. Returns nullopt for other text.
[[nodiscard]] std::optional<Outcome> parse_outcome(std::string_view text);

/// Returns the exit status of an outcome with --strict: 0, or one of the statuses above.
/// @param is_confirmed  whether alternating runs of the kept build and this build confirmed it: SPLIT and CREEP then
///                      fail
[[nodiscard]] int exit_status_of(Outcome outcome, bool is_confirmed = false);
/// Returns whether the outcome makes a command fail. Uncertain outcomes do so only with `strict`.
[[nodiscard]] bool is_failure(Outcome outcome, bool strict, bool is_confirmed = false);
/// Returns FAILED for a status that does not require --strict, REVIEW for a status that does, and PASSED for 0.
[[nodiscard]] Headline headline_of_status(int status);
[[nodiscard]] Headline headline_of(Outcome outcome, bool is_confirmed = false);

/// The number of cases with each outcome, the most severe outcome first.
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
