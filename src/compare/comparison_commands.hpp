// Commands for the measurements that a comparison lacks, with the programs that wrote its files. In the commands, BASE
// and NEW stand for the folders of the two builds, which results files do not have.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tbench/compare/comparison.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::compare {

/// With this many replicates per side, +3 % in a model step is found nine times in ten if processes differ by 0.6 %.
inline constexpr std::int64_t kUsualReplicates = 5;

inline constexpr std::string_view kOneAfterTheOther =
    "the sides were measured one after the other, so that a drift of the machine looks like a change";

inline constexpr const char* kNewProgram = "NEW/transformer_bench";

/// Returns the command that runs these cases alternately with both programs and compares the results. If the files are
/// plain Google Benchmark JSON, a program is called as its file says, in BASE and NEW if both sides have the same one.
/// @param names       names of the cases; empty for all
/// @param replicates  number of runs per side
[[nodiscard]] std::string measure_in_turns(const results::RunFlags& base, const results::RunFlags& next,
                                           std::span<const std::string> names, std::int64_t replicates);

/// Returns the flags of `base` for the program of `next`, so that both sides run the cases of the base.
[[nodiscard]] results::RunFlags flags_of_base(const results::RunFlags& base, const results::RunFlags& next);

/// Returns the command that runs failed cases of the new side, each in a process of its own if its program can do that.
[[nodiscard]] std::string run_again(const results::RunFlags& next, std::span<const std::string> names);

/// Returns the number of replicates per side that decides all UNDECIDED cases for which kMaxReplicates are enough; 0 if
/// there are none.
[[nodiscard]] std::int64_t replicates_to_decide(const Comparison& comparison);

/// Returns the command that measures the UNDECIDED, LIKELY_SLOWER and LIKELY_FASTER cases often enough to decide them.
/// The number of replicates per side is at least kMinReplicates if no case was tested before, else kUsualReplicates.
[[nodiscard]] std::string decide_what_is_open(const Comparison& comparison);

}  // namespace tbench::compare
