// The changes that a launcher makes to a run as a whole: whether there is one, which options it rules out, which GPU
// belongs to this rank, and how the ranks run each case together.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/run/case_runner.hpp"
#include "bench/run/rendezvous.hpp"
#include "tbench/core/units.hpp"
#include "tbench/ranks/launch.hpp"

namespace tbench::bench {

/// Reads this process's launch from the environment; nothing for a process by itself.
/// @throws  UsageError  as ranks::find_launch()
[[nodiscard]] std::optional<ranks::Launch> own_launch();

/// The rendezvous of all ranks, which opens their store when it first needs it.
[[nodiscard]] std::unique_ptr<Rendezvous> make_rendezvous(const ranks::Launch& launch);

/// @throws  UsageError  for an option that ranks cannot serve
void check_with_ranks(const Options& options);

/// Lets the workers that this process starts see this rank's GPU alone. Call it before there are threads.
/// @throws  UsageError  as ranks::visible_gpu()
void show_own_gpu(const ranks::Launch& launch);

/// Returns the runner of rank 0. After a case that failed on any rank the next one gets fresh workers on all.
/// @param own      runs rank 0's part
/// @param rendezvous  outlives the runner
/// @param timeout  of a worker (--tb_timeout)
[[nodiscard]] std::unique_ptr<CaseRunner> make_coordinator_runner(std::unique_ptr<CaseRunner> own,
                                                                  Rendezvous& rendezvous, Seconds timeout);

/// Serves as a rank other than 0 until rank 0 says that the run is over: runs its part of each case. Prints nothing.
/// @return  exit status
int serve_as_rank(CaseRunner& own, Rendezvous& rendezvous, const StopRequested& stop);

}  // namespace tbench::bench
