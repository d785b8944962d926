// One run of transformer_bench after its command line is understood: select, resume, run through Google Benchmark,
// report.
#pragma once

#include <string>
#include <vector>

#include "bench/families/family.hpp"
#include "bench/options.hpp"
#include "bench/ranks/rank_meeting.hpp"

namespace tbench::bench {

/// Runs the selected cases of `families`.
/// @param arguments  the command line without the program's name, for child processes
/// @param meeting    with the other ranks, of which rank 0 alone selects, prints and writes; null: a process by itself
/// @return  exit status: 0, 1 if a case is incorrect, timed out or crashed, 130 when interrupted
/// @throws  UsageError  before any work
int run_session(const std::vector<Family>& families, const Options& options, std::vector<std::string> arguments,
                RankMeeting* meeting);

}  // namespace tbench::bench
