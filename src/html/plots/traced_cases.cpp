#include "html/plots/traced_cases.hpp"

#include <numeric>
#include <utility>

namespace tbench::html {

const StepTrace& trace_of(const PlotCase& of) { return *of.record->trace; }

Cases traced(const Cases& cases) {
  return middles(only(cases, [](const PlotCase& of) { return of.record->trace.has_value(); }), counter("median_ms"));
}

double total_gaps(const StepTrace& trace) {
  return std::accumulate(kGaps.begin(), kGaps.end(), 0.0,
                         [&](double sum, const Gap& gap) { return sum + (trace.*gap.time).value; });
}

PointFacts facts_with(const PlotCase& of, std::string unit, std::string note) {
  return {.record = of.index,
          .unit = std::move(unit),
          .status = std::string{to_string(of.record->status)},
          .note = std::move(note)};
}

}  // namespace tbench::html
