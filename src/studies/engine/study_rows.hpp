// A table of a study with several rows a case, from what the case's records hold.
#pragma once

#include <optional>

#include "studies/engine/study_section.hpp"

namespace tbench::studies {

/// Nothing for a study without cases.
[[nodiscard]] std::optional<StudySection> row_section(const StudyRowTable& table, CaseCells& cells);

}  // namespace tbench::studies
