// Traces steps on a GPU through CUPTI, and marks them for a profiler that has CUPTI itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "tbench/measure/step_tracer.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::bench {

/// Gets the traced steps that count (cut_steps), what they come to, and how many they are. Must not throw.
using TraceSink = std::function<void(const profile::Trace& trace, const profile::Profile& profile, std::int64_t steps)>;

/// Between start() and stop() lie cudaProfilerStart() and cudaProfilerStop(), so that
/// `nsys profile --capture-range=cudaProfilerApi` captures exactly these steps. A profiler that is attached has CUPTI
/// for itself: the steps run for it, and stop() throws std::runtime_error that names it.
/// @param sink  may be empty
[[nodiscard]] std::unique_ptr<measure::StepTracer> make_cupti_step_tracer(TraceSink sink);

}  // namespace tbench::bench
