// The end of a run: the answer of its study, and the HTML page of --tb_page.
#pragma once

#include "bench/cli/options.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::bench {

/// Checks before the run that a page can be made.
/// @throws  UsageError  for --tb_page if the program `tbench`, which makes the page, is absent
void check_page(const Options& options);

/// Prints the answer of a study, which stands above its tables. Does nothing for other runs.
void say_answer(const Options& options, const results::ResultFile& file);

/// Runs `tbench report` for --tb_page; the page of a study has the study's tables.
/// @return  exit status of the run: `status`, or a failure if `status` is 0 and the page could not be made
[[nodiscard]] int write_page(const Options& options, int status);

}  // namespace tbench::bench
