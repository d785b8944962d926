// The registry of studies, each of which is defined and registered in the file of its subject, and the columns and
// grids that several share.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/registration.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// The entry that a study's file registers: TBENCH_REGISTER(RegisteredStudy, {...}).
struct RegisteredStudy {
  std::string name;  // Study::name
  int order{};       // of all_studies()
  Study (*make)();
};

/// Returns nullopt if the record does not have it.
[[nodiscard]] std::optional<double> counter_of(const Record& record, const std::string& counter);
/// Returns the median over the records that have the value, or nullopt if none has it.
[[nodiscard]] std::optional<double> median_of(std::span<const Record* const> records,
                                              const std::function<std::optional<double>(const Record&)>& value);
/// Returns the median of a counter.
[[nodiscard]] std::optional<double> median_of(std::span<const Record* const> records, const std::string& counter);

/// The ceiling that bytes are held against: a copy in memory.
[[nodiscard]] const CaseId& copy_case();
/// Returns the model size of the case's key `size`, or nullopt for an unknown size.
[[nodiscard]] std::optional<ModelSize> size_of(const CaseId& id, std::span<const ModelSize> sizes);

/// A counter (bench/README.md lists them) times `factor`, with four significant digits.
[[nodiscard]] StudyColumn number_column(std::string header, std::string counter, double factor = 1);
/// The median time, which speed-ups may replace by the GPU's own.
[[nodiscard]] StudyColumn step_time_column();
/// A column with the counter as a whole number with commas.
[[nodiscard]] StudyColumn whole_column(std::string header, std::string counter, double factor = 1);
/// A counter in bytes as MiB.
[[nodiscard]] StudyColumn mebibytes_column(std::string header, std::string counter);
/// One counter over another one.
[[nodiscard]] StudyColumn ratio_column(std::string header, std::string numerator, std::string denominator);
/// Classes of the memory's split, together, as MiB; nothing where a record has none of them.
[[nodiscard]] StudyColumn split_column(std::string header, std::vector<std::string> classes);

/// A column of what the family found under `finding` (Record::labels).
[[nodiscard]] StudyColumn finding_column(std::string header, std::string finding);

/// The column of the cases of one pass alone, in a table that spreads `pass`.
[[nodiscard]] StudyColumn of_pass(std::string pass, StudyColumn column);
/// The columns of attention in a table that spreads `pass`: the median of the forward pass's own case, and the backward
/// part of the case with both, so that a backward that fails leaves the forward's time.
[[nodiscard]] StudyColumn attention_forward_column();
[[nodiscard]] StudyColumn attention_backward_column();

/// Cases of the course's model, as its code is written: batch 4, operation by operation.
[[nodiscard]] FamilyGrid model_grid(std::vector<std::string> ctx, std::vector<std::string> pass,
                                    std::vector<std::string> precision);

/// Cases of the family Collective, 1 KiB to 4 GiB in steps of 4, between as many GPUs as the run has.
[[nodiscard]] FamilyGrid collective_grid(std::vector<std::string> op, std::vector<std::string> precision);

/// Forward alone, and forward and backward, of the course's grid of attention: 8 sequences, one head, no mask.
[[nodiscard]] FamilyGrid course_attention_grid(std::vector<std::string> precision, std::vector<std::string> impl);

}  // namespace tbench::studies
