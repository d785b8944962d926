// How many rows and which columns the tables of studies have, if not those that the studies give: --top and --pivot.
#pragma once

#include <functional>
#include <span>

#include "tbench/studies/study.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

/// Returns the study with `top` in all of its rankings, and with `pivot` as the columns of its tables, in which several
/// quantities become rows. A table keeps its columns if they are part of its quantities (a speed-up, a fit, a boundary,
/// a column for one value of a key), if it is the table of the sizes, and if its cases have the same value of the keys.
[[nodiscard]] Study shaped(Study study, const StudyOptions& options);

/// Refuses a `top` or a `pivot` that changes none of the tables.
/// @throws  UsageError  which names the keys of the studies, or the studies with rankings
void refuse_unused_shape(std::span<const std::reference_wrapper<const Study>> studies, const StudyOptions& options);

}  // namespace tbench::studies
