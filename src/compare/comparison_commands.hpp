// Commands that measure what a comparison lacks, with the programs that the files came from. BASE and NEW in them are
// the folders of the two builds, which results do not tell.
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

inline constexpr const char* kNewProgram = "NEW/transformer_bench";

/// Measures these cases with both programs in turns, so many times, and compares them. A program of plain Google
/// Benchmark JSON is called as the file says it was, in BASE and NEW where both sides say the same.
/// @param names  empty: all
[[nodiscard]] std::string measure_in_turns(const results::RunFlags& base, const results::RunFlags& next,
                                           std::span<const std::string> names, std::int64_t replicates);

/// The flags of `base` for the program of `next`: the cases of the base with both.
[[nodiscard]] results::RunFlags flags_of_base(const results::RunFlags& base, const results::RunFlags& next);

/// Runs cases of the new side that failed, each in a process of its own where its program can do that.
[[nodiscard]] std::string run_again(const results::RunFlags& next, std::span<const std::string> names);

/// How many replicates a side decide all UNDECIDED cases that kMaxReplicates decide; 0: there are none.
[[nodiscard]] std::int64_t replicates_to_decide(const Comparison& comparison);

/// Measures the cases that are UNDECIDED or LIKELY_SLOWER or _FASTER often enough; three times where each side has one
/// process.
[[nodiscard]] std::string decide_what_is_open(const Comparison& comparison);

}  // namespace tbench::compare
