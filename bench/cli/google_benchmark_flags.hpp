// Translates a command line written for Google Benchmark into this program's own options.
#pragma once

#include <string>
#include <vector>

namespace tbench::bench {

/// Returns the words of a command line in this program's spelling. An empty `--benchmark_filter` and
/// `--benchmark_filter=all` select every case. `yes`, `no`, `on`, `off`, `1` and `0` are accepted as colour choices.
/// `--benchmark_context=a=b,c=d` becomes two entries, and `-help` becomes `--help`. Flags that ask for the program's
/// usual behaviour are left out.
/// @param words  arguments without the program's name
/// @throws  UsageError  naming an unsupported flag of Google Benchmark and the reason
[[nodiscard]] std::vector<std::string> in_own_spelling(const std::vector<std::string>& words);

/// Returns Google Benchmark's own flags with their defaults. If a flag is missing, Google Benchmark takes its value
/// from the environment (BENCHMARK_FILTER), which does not concern this program's cases.
[[nodiscard]] std::vector<std::string> flags_for_google_benchmark();

}  // namespace tbench::bench
