// Traced cases, and what their plots share.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "html/plots/plot_case.hpp"
#include "tbench/core/step_trace.hpp"

namespace tbench::html {

/// The largest number of rows of one panel.
inline constexpr std::size_t kMaxTraceRows = 40;

/// A cause of gaps between operations.
struct Gap {
  std::string_view name;
  std::string_view colour;
  Seconds StepTrace::*time;
};
inline constexpr std::array<Gap, 3> kGaps{{{"host late", "var(--bad)", &StepTrace::host_gaps},
                                           {"device's own", "var(--warn)", &StepTrace::device_gaps},
                                           {"others", "var(--dim)", &StepTrace::other_gaps}}};

/// Returns the trace of a traced case.
[[nodiscard]] const StepTrace& trace_of(const PlotCase& of);

/// Returns the traced cases. If a case was measured in several processes, returns the middle one.
[[nodiscard]] Cases traced(const Cases& cases);

/// Returns the sum of all gaps in seconds.
[[nodiscard]] double total_gaps(const StepTrace& trace);

/// Returns the facts of a part of a step for its tooltip.
[[nodiscard]] PointFacts facts_with(const PlotCase& of, std::string unit, std::string note);

}  // namespace tbench::html
