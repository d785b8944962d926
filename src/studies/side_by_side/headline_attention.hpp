// The part of a headline about attention: `flash` against the fastest of PyTorch's fused implementations.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "studies/side_by_side/headline_steps.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

struct HeadlineAttention {
  StudySection section;              // a row per GPU model, pass, mask and precision
  std::vector<std::string> answers;  // on `flash` on the GPU models, then on `flash` against `sdpa_*`
};

/// Divides, for each attention shape, the time of the fastest `sdpa_*` by the time of `flash`. Uses the shapes that
/// have both times. A case with several records counts with the median of their medians. Shapes in which the host
/// limits one of the two times do not count. Returns nullopt if no GPU model has a shape.
/// @param precision  the precision of the answers; the table has all
[[nodiscard]] std::optional<HeadlineAttention> headline_attention(std::span<const HeadlineGpu> gpus,
                                                                  const std::string& precision);

}  // namespace tbench::studies
