// The results file of a run: the right to write it, and what an earlier run left there.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "bench/cli/options.hpp"
#include "tbench/results/output_lock.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::bench {

/// The right to write --benchmark_out, and what an earlier run left there, for --tb_resume.
struct Output {
  results::OutputLock lock;
  std::optional<results::ResultFile> earlier;
};

/// @return  nothing without --benchmark_out
/// @throws  UsageError  if it cannot be written, or another process is writing it; or for an unfinished run, which
///                      would be overwritten, without --tb_resume
[[nodiscard]] std::optional<Output> take_output(const Options& options);

/// All records of a file are measured in one way: in the number of processes that each states, with the same plant,
/// verified as often, traced or not, in as much memory; and they are of one shard.
/// @param now  the options of this run, as the file records them
/// @throws     UsageError  if `earlier` was started with another number or plant, or another --tb_verify or --tb_trace,
///                         --tb_memory_limit, --tb_shard; if the shard is of another selection, or by other durations
void check_same_options(const std::string& path, const results::ResultFile& earlier,
                        const std::map<std::string, std::string>& now);

}  // namespace tbench::bench
