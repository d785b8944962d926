// Runs cases on all ranks together: every rank's supervisor has its own worker run the case, rank 0 calls and collects.
#pragma once

#include <functional>
#include <memory>

#include "bench/ranks/rank_meeting.hpp"
#include "bench/runners.hpp"
#include "tbench/core/units.hpp"

namespace tbench::bench {

/// Of rank 0. After a case that failed on any rank the next one gets fresh workers on all.
/// @param own      runs rank 0's part
/// @param meeting  outlives the runner
/// @param timeout  of a worker (--tb_timeout)
[[nodiscard]] std::unique_ptr<CaseRunner> make_leading_runner(std::unique_ptr<CaseRunner> own, RankMeeting& meeting,
                                                              Seconds timeout);

/// What every other rank does until rank 0 says that the run is over: its part of each case. Prints nothing.
/// @return  exit status
int follow(CaseRunner& own, RankMeeting& meeting, const StopRequested& stop);

}  // namespace tbench::bench
