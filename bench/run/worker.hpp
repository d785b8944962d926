// The child's side of child_runner: measures the cases that its parent asks for. And the requests and messages on which
// both sides agree.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/families/family.hpp"

namespace tbench::bench {

/// The prefix of a case's name in a request that asks whether the case can run: the answer is its refusal, or no
/// record.
inline constexpr std::string_view kQuestion = "can run? ";

/// Bytes that a child's message may have: a mebibyte for each record, and what the user has asked for of samples.
[[nodiscard]] std::uint64_t max_message_bytes(const Options& options);

/// Serves requests until the parent closes the pipe, or a case has poisoned the CUDA context.
/// @return  exit status
int run_worker(std::vector<Family> families, const Options& options);

}  // namespace tbench::bench
