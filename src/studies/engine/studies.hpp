// The registry of studies, and the columns and grids that several studies share. Each study is defined and registered
// in the file of its subject.
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
  int order{};       // position in all_studies()
  Study (*make)();
};

/// Returns the value of a counter, or nullopt if the record does not have it.
[[nodiscard]] std::optional<double> counter_of(const Record& record, const std::string& counter);
/// Returns the median over the records that have the value, or nullopt if none has it.
[[nodiscard]] std::optional<double> median_of(std::span<const Record* const> records,
                                              const std::function<std::optional<double>(const Record&)>& value);
/// Returns the median of a counter.
[[nodiscard]] std::optional<double> median_of(std::span<const Record* const> records, const std::string& counter);

/// Returns half the width of the median's 95 % interval relative to the median, or 0 if no record has an interval.
[[nodiscard]] double relative_half_width(std::span<const Record* const> records);

/// Returns the case of the ceiling with which bytes are compared: a copy in memory.
[[nodiscard]] const CaseId& copy_case();

/// Returns a column with a counter (bench/README.md lists them) times `factor`, with four significant digits.
[[nodiscard]] StudyColumn number_column(std::string header, std::string counter, double factor = 1);
/// Returns a column with the median time in milliseconds. Speed-ups may use the GPU's own time instead.
[[nodiscard]] StudyColumn step_time_column();
/// Returns a column with a counter times `factor`, as a whole number with commas.
[[nodiscard]] StudyColumn whole_column(std::string header, std::string counter, double factor = 1);
/// Returns a column with a counter of bytes, shown in MiB.
[[nodiscard]] StudyColumn mebibytes_column(std::string header, std::string counter);
/// Returns a column with one counter divided by another.
[[nodiscard]] StudyColumn ratio_column(std::string header, std::string numerator, std::string denominator);
/// Returns a column with the sum of some memory classes in MiB. The cell is empty if a record has none of them.
[[nodiscard]] StudyColumn split_column(std::string header, std::vector<std::string> classes);

/// Returns a column with the tokens per second at the mean time of a step.
[[nodiscard]] StudyColumn mean_tokens_column();

/// Returns a column with the label `finding` of each record (Record::labels).
[[nodiscard]] StudyColumn finding_column(std::string header, std::string finding);

/// Restricts a column to the cases of one pass, in a table that spreads `pass`.
[[nodiscard]] StudyColumn of_pass(std::string pass, StudyColumn column);
/// Return the columns of attention in a table that spreads `pass`: the median of the forward pass's own case, and the
/// backward part of the case with both passes. If the backward pass fails, the time of the forward pass remains.
[[nodiscard]] StudyColumn attention_forward_column();
[[nodiscard]] StudyColumn attention_backward_column();

/// Returns the grid of the course's model as its code is written: batch 4, with separate operations (`impl:eager`).
[[nodiscard]] FamilyGrid model_grid(std::vector<std::string> ctx, std::vector<std::string> pass,
                                    std::vector<std::string> precision);

/// Returns the grid of the family Collective: 1 KiB to 4 GiB in factors of 4, between all GPUs of the run.
[[nodiscard]] FamilyGrid collective_grid(std::vector<std::string> op, std::vector<std::string> precision);

/// Returns the course's grid of attention, for the forward pass alone and for forward and backward: 8 sequences, one
/// head and no mask.
[[nodiscard]] FamilyGrid course_attention_grid(std::vector<std::string> precision, std::vector<std::string> impl);

}  // namespace tbench::studies
