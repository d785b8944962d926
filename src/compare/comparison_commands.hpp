// Commands that measure what a comparison lacks. BASE and NEW in them are the folders of the two programs, which
// results do not tell.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tbench/compare/comparison.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::compare {

/// Find +3 % in a model step nine times in ten where processes differ by 0.6 %.
inline constexpr std::int64_t kUsualReplicates = 5;

inline constexpr std::string_view kOneAfterTheOther =
    "the sides were measured one after the other, so that a drift of the machine looks like a change";

/// Measures these cases with both programs in turns, so many times, and compares them.
/// @param names  empty: all
[[nodiscard]] std::string measure_in_turns(const results::RunFlags& base, const results::RunFlags& next,
                                           std::span<const std::string> names, std::int64_t replicates);

/// How many replicates a side decide all cases of this verdict that kMaxReplicates decide; 0: there are none.
[[nodiscard]] std::int64_t replicates_to_decide(const Comparison& comparison, Verdict verdict);

/// Measures the cases that are INSUFFICIENT or AMBIGUOUS often enough.
[[nodiscard]] std::string decide_what_is_open(const Comparison& comparison);

}  // namespace tbench::compare
