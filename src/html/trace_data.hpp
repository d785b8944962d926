// What a page has of a record's trace: the GPU's time by phase and class of operation, and the gaps.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tbench/core/step_trace.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::html {

/// Phases and classes of all traces of a page, which name them by their indexes.
class TraceNames {
 public:
  /// Of one trace, all a step, as two lists of numbers:
  ///   span, device, gaps of the host, the device's own and others in ms; the longest gap in us; kernels; launches
  ///   four numbers for each class in each phase, in the order of the trace: phase and class (indexes), ms, operations
  [[nodiscard]] results::Json trace(const StepTrace& trace);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::size_t index_of(const std::string& name);
  std::vector<std::string> names_;
};

}  // namespace tbench::html
