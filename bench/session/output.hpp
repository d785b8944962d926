// The results file of a run: the lock for writing it, and the records of an earlier run in it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "bench/cli/options.hpp"
#include "tbench/results/output_lock.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::bench {

/// The lock on the file of --benchmark_out, and its earlier contents for --tb_resume.
struct Output {
  results::OutputLock lock;
  std::optional<results::ResultFile> earlier;
};

/// Locks the results file and reads its earlier contents.
/// @return  nullopt without --benchmark_out
/// @throws  UsageError  if the file cannot be written, if another process is writing it, or if it holds an unfinished
///                      run, which would be overwritten without --tb_resume
[[nodiscard]] std::optional<Output> take_output(const Options& options);

/// Checks that a resumed run measures as before. All records of a file are taken with the same number of processes and
/// ranks, with the same plant, verification, tracing and memory limit, and from one shard.
/// @param now  options of this run, as the file records them
/// @throws     UsageError  if `earlier` has another number of processes or ranks, plant, --tb_verify, --tb_trace,
///                         --tb_memory_limit or --tb_shard, or if its shard comes from another selection or other
///                         durations
void check_same_options(const std::string& path, const results::ResultFile& earlier,
                        const std::map<std::string, std::string>& now);

}  // namespace tbench::bench
