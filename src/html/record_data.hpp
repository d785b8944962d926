// What a page has of a record besides its numbers: of its trace the GPU's time by phase and class of operation and by
// range, and the gaps; and the bytes of its roofline.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/core/step_trace.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::html {

/// Phases, classes and ranges of all traces of a page, which name them by their indexes.
class TraceNames {
 public:
  /// Of one trace, all a step, as three lists of numbers:
  ///   span, device, gaps of the host, the device's own and others in ms; the longest gap in us; kernels; launches
  ///   four numbers for each class in each phase, in the order of the trace: phase and class (indexes), ms, operations
  ///   three numbers for each range with time on the GPU, in the order of the trace: what its path has behind that of
  ///   the range around it (index of a name), that range (index in this list; -1: none), ms
  [[nodiscard]] results::Json trace(const StepTrace& trace);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  [[nodiscard]] results::Json ranges(const StepTrace& trace);
  std::size_t index_of(const std::string& name);
  std::vector<std::string> names_;
};

/// Bytes that a case moves between memory and the GPU at the very least, whoever computes it: those that its family
/// counts; of matrix products, and of attention's forward and backward, inputs and outputs once. Nothing for other
/// cases.
[[nodiscard]] std::optional<double> least_bytes(const Record& record);

}  // namespace tbench::html
