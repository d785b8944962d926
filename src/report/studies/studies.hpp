// All studies, each defined in the file of its name, and the columns and grids that several share.
#pragma once

#include <string>
#include <vector>

#include "tbench/report/study.hpp"

namespace tbench::report {

[[nodiscard]] Study accumulation_study();
[[nodiscard]] Study autocast_study();
[[nodiscard]] Study end_to_end_study();
[[nodiscard]] Study memory_study();
[[nodiscard]] Study precision_study();
[[nodiscard]] Study scaling_study();
[[nodiscard]] Study warmup_study();

/// A counter (bench/README.md lists them) times `factor`, with four significant digits.
[[nodiscard]] StudyColumn number_column(std::string header, std::string counter, double factor = 1);
/// The same as a whole number with commas.
[[nodiscard]] StudyColumn whole_column(std::string header, std::string counter, double factor = 1);
/// A counter in bytes as MiB.
[[nodiscard]] StudyColumn mebibytes_column(std::string header, std::string counter);
/// A part of the memory's split as MiB: parameters, gradients, optimizer_state, activations.
[[nodiscard]] StudyColumn split_column(std::string header, std::string part);

/// What the family saw under `finding` (Record::findings).
[[nodiscard]] StudyColumn finding_column(std::string header, std::string finding);

/// All built-in model sizes but the one for tests.
[[nodiscard]] std::vector<std::string> course_sizes();

/// Cases of the course's model, as its code is written: batch 4, operation by operation.
[[nodiscard]] FamilyGrid model_grid(std::vector<std::string> ctx, std::vector<std::string> pass,
                                    std::vector<std::string> precision);

}  // namespace tbench::report
