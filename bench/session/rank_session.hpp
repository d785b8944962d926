// The effects of a launcher on a run: whether there is one, which options it excludes, which GPU belongs to this rank,
// and how the ranks run each case together.
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

/// Reads this process's launch from the environment; nullopt for a process without a launcher.
/// @throws  UsageError  as ranks::find_launch()
[[nodiscard]] std::optional<ranks::Launch> own_launch();

/// Makes the rendezvous of all ranks, which opens their store on first use.
[[nodiscard]] std::unique_ptr<Rendezvous> make_rendezvous(const ranks::Launch& launch);

/// Checks the options of a run with several ranks.
/// @throws  UsageError  for an option that does not work with ranks
void check_with_ranks(const Options& options);

/// Makes only this rank's GPU visible to the workers that this process starts. Call it before any thread starts.
/// @throws  UsageError  as ranks::visible_gpu()
void show_own_gpu(const ranks::Launch& launch);

/// Makes the runner of rank 0. After a case that failed on any rank, all ranks start new workers for the next case.
/// @param own         runner of rank 0's part
/// @param rendezvous  rendezvous that outlives the runner
/// @param timeout     timeout of a worker (--tb_timeout)
[[nodiscard]] std::unique_ptr<CaseRunner> make_coordinator_runner(std::unique_ptr<CaseRunner> own,
                                                                  Rendezvous& rendezvous, Seconds timeout);

/// Serves as a rank other than 0: runs its part of each case until rank 0 ends the run. Prints nothing.
/// @return  exit status
int serve_as_rank(CaseRunner& own, Rendezvous& rendezvous, const StopRequested& stop);

}  // namespace tbench::bench
