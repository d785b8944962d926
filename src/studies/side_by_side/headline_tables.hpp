// The tables of a headline, without the table of attention.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "studies/side_by_side/headline_steps.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

/// Returns the work of every step: `Training step of 4 x 512 tokens in bf16`.
[[nodiscard]] std::string headline_work(const HeadlineSteps& steps);

/// Returns a table with a row per size and GPU model, without the columns that no row fills.
/// @param used_marks  receives the marks of the rows, as render::legend_of() takes them
[[nodiscard]] StudySection headline_steps_section(const HeadlineSteps& steps, std::string& used_marks);

/// Returns a table of the cases that one GPU model has measured and another one ran out of memory for; nullopt if there
/// are none.
[[nodiscard]] std::optional<StudySection> headline_memory_section(std::span<const HeadlineGpu> gpus);

}  // namespace tbench::studies
