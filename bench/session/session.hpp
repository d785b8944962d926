// Runs a session, from the options to the exit status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/families/family.hpp"
#include "bench/run/rendezvous.hpp"
#include "bench/session/request.hpp"

namespace tbench::bench {

/// Runs the selected cases of `families`.
/// @param ranks  the other ranks, of which only rank 0 selects, prints and writes; null for a single process
/// @return  exit status: 0, 1 if a case is incorrect, timed out or crashed, 130 if interrupted
/// @throws  UsageError  before any work
int run_session(const std::vector<Family>& families, const Options& options, Call call, Rendezvous* ranks);

}  // namespace tbench::bench
