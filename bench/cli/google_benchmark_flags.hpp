// The command line as people write it for Google Benchmark, in this program's own spelling.
#pragma once

#include <string>
#include <vector>

namespace tbench::bench {

/// Words without the program's name. `--benchmark_filter=all` and an empty one select every case, `yes`, `no`, `on`,
/// `off`, `1` and `0` are colours' choices, `--benchmark_context=a=b,c=d` are two entries, `-help` is `--help`. Flags
/// that ask for what the program does anyway are left out.
/// @throws  UsageError  naming a flag of Google Benchmark that is not supported, and why
[[nodiscard]] std::vector<std::string> in_own_spelling(const std::vector<std::string>& words);

/// Google Benchmark's own flags with their defaults: a flag that is not given takes its value from the environment
/// (BENCHMARK_FILTER), which says nothing of this program's cases.
[[nodiscard]] std::vector<std::string> flags_for_google_benchmark();

}  // namespace tbench::bench
