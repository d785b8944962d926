// Ways to do the same thing on a GPU, and which of them is the fastest there.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tbench::model {

/// One way: launch() enqueues it on the current stream.
struct Candidate {
  std::string name;
  std::function<void()> launch;
};

struct TrialConditions {
  bool rests{false};         // the device rests before each launch, as before a burst's sample
  double equal_within{1.0};  // of candidates within this factor of the best the first is taken
};

/// The candidate whose median launch took least: each is launched once before and then six times between events, in
/// rounds, on an idle device. Synchronises. For launches of a millisecond or so, beside which what events add is small.
/// @param candidates  at least one; a single one is not launched
/// @throws            std::invalid_argument; CudaError; whatever a launch throws
[[nodiscard]] Candidate fastest_of(std::vector<Candidate> candidates, const TrialConditions& conditions = {});

}  // namespace tbench::model
