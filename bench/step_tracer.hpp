// Traces steps on a GPU through CUPTI, and marks them for a profiler that has CUPTI itself.
#pragma once

#include <memory>

#include "tbench/measure/step_tracer.hpp"

namespace tbench::bench {

/// Between start() and stop() lie cudaProfilerStart() and cudaProfilerStop(), so that
/// `nsys profile --capture-range=cudaProfilerApi` captures exactly these steps. A profiler that is attached has CUPTI
/// for itself: the steps run for it, and stop() throws std::runtime_error that names it.
[[nodiscard]] std::unique_ptr<measure::StepTracer> make_cupti_step_tracer();

}  // namespace tbench::bench
