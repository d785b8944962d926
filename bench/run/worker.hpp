// The child's side of child_runner: measures the cases that its parent requests. Also the form of the requests and
// messages between the two.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/families/family.hpp"

namespace tbench::bench {

/// The prefix of a request that only asks whether the case named after it can run. The answer is the case's refusal, or
/// no record if it can.
inline constexpr std::string_view kQuestion = "can run? ";

/// Returns the largest size of a child's message in bytes: 1 MiB per record, and room for the samples that the user
/// requested.
[[nodiscard]] std::uint64_t max_message_bytes(const Options& options);

/// Serves requests until the parent closes the pipe or a case has corrupted the CUDA context.
/// @return  exit status
int run_worker(std::vector<Family> families, const Options& options);

}  // namespace tbench::bench
