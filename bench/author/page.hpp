// The end of a run: the answer of its study, and the page of --tb_page.
#pragma once

#include "bench/cli/options.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::bench {

/// @throws  UsageError  if there is to be a page and `tbench`, which makes it, is not there
void check_page(const Options& options);

/// Prints what the study says above its tables; nothing for other runs.
void say_answer(const Options& options, const results::ResultFile& file);

/// Runs `tbench report` for --tb_page, of a study with its tables.
/// @return  the exit status of the run: `status`, unless there is no page and it was 0
[[nodiscard]] int write_page(const Options& options, int status);

}  // namespace tbench::bench
