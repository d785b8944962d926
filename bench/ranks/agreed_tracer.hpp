// The tracer of a case that several ranks run together: each traces its own GPU, or none does.
#pragma once

#include <memory>

#include "tbench/measure/agreed_timer.hpp"
#include "tbench/measure/step_tracer.hpp"

namespace tbench::bench {

/// A rank that cannot be traced would go on without the steps that the others then make: start() throws on all ranks
/// if it does on one.
/// @param own     traces this rank
/// @param gather  of all ranks
[[nodiscard]] std::unique_ptr<measure::StepTracer> make_agreed_tracer(std::unique_ptr<measure::StepTracer> own,
                                                                      measure::Gather gather);

}  // namespace tbench::bench
