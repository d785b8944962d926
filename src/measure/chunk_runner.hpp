// Runs chunks of a case and refuses times that cannot be its times.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tbench/measure/case.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// The case cannot have a time: it ends as `incorrect`.
struct Incorrect {
  std::string reason;
};

class ChunkRunner {
 public:
  ChunkRunner(Case& subject, Timer& timer) : subject_{subject}, timer_{timer} {}

  /// Chained steps.
  /// @throws  Incorrect  if work goes on after the last event, twice in a row, or a time is not positive and finite
  Chunk steps(std::int64_t count, const std::function<void()>& while_busy);
  /// `count` bursts of `launches` launches.
  /// @throws  as steps()
  Chunk bursts(std::int64_t count, std::int64_t launches, const std::function<void()>& while_busy);

 private:
  Chunk checked(bool is_burst, const std::function<Chunk(const Step&)>& run);

  Case& subject_;
  Timer& timer_;
};

}  // namespace tbench::measure
