// Makes records with traces whose figures are computed by hand, and the tables of studies for them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "study_notes.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/text.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

inline constexpr double kUs = 1e-6;

inline CaseId id_of(const std::string& pass, const std::string& size = "small") {
  return {"Model",
          {{"size", size}, {"ctx", "512"}, {"batch", "4"}, {"pass", pass}, {"precision", "bf16"}, {"impl", "eager"}}};
}

inline TracedKernel kernel(const std::string& phase, const std::string& kernel_class, const std::string& name,
                           double calls, double total_ms) {
  return {.phase = phase,
          .kernel_class = kernel_class,
          .name = name,
          .calls = calls,
          .total = {total_ms * kMs},
          .min = {5 * kUs},
          .max = {total_ms * kMs},
          .standard_deviation = Seconds{2 * kUs}};
}

/// Returns a step of 20 ms, in which the GPU works for 16 ms. Operations in ms per step, and their sum:
///
///   forward    gemm nvjet 3, gemm cutlass 1, softmax 0.8, a copy 0.2    5
///   backward   softmax 4, gemm nvjet 3.5, elementwise 0.5               8
///   optimizer  adam 3                                                   3
inline Record trained(double factor = 1) {
  Record record = support::timed_record(id_of("train_step"), Seconds{20 * kMs});
  record.trace = StepTrace{
      .steps = 3,
      .span = {17.5 * kMs},
      .device = {16 * kMs},
      .host_gaps = {1 * kMs},
      .device_gaps = {0.5 * kMs},
      .other_gaps = {},
      .longest_gap = {250 * kUs},
      .launches = 60,
      .kernels = {kernel("forward", "gemm", "nvjet_a<bf16>", 10, 3), kernel("forward", "gemm", "cutlass_b", 5, 1),
                  kernel("forward", "softmax_forward", "softmax_fw<float>", 12, 0.8),
                  kernel("forward", "memcpy", "Memcpy DtoD", 1, 0.2),
                  kernel("backward", "softmax_backward", "softmax_bw<float>", 12, 4),
                  kernel("backward", "gemm", "nvjet_a<bf16>", 20, 3.5),
                  kernel("backward", "elementwise", "add", 24, 0.5), kernel("optimizer", "optimizer", "adam", 3, 3)},
      .without_launch = 0,
      .dropped = 0};
  for (TracedKernel& k : record.trace->kernels) {
    k.total = k.total * factor;
    k.max = k.max * factor;
  }
  return record;
}

/// Returns a forward pass: 4.5 ms of products and 0.5 ms of softmax in a step of 6 ms.
inline Record inferred() {
  Record record = support::timed_record(id_of("forward"), Seconds{6 * kMs});
  record.trace = StepTrace{};
  record.trace->steps = 3;
  record.trace->device = {5 * kMs};
  record.trace->launches = 22;
  record.trace->kernels = {kernel("forward", "gemm", "nvjet_a<bf16>", 10, 4.5),
                           kernel("forward", "softmax_forward", "softmax_fw<float>", 12, 0.5)};
  return record;
}

inline StudyReport report_of(const std::string& study, std::vector<Record> records) {
  const results::NamedResults file = support::gpu_results(std::move(records));
  return study_report(
      find_study(study, "--study"), std::vector{file},
      {.axes = {{"Model", {"size", {"small"}}}, {"Model", {"ctx", {"512"}}}, {"Model", {"precision", {"bf16"}}}},
       .filter = {}});
}

/// Returns the rows of a table, with their cells joined by `|`. A shortened text counts in full.
inline std::vector<std::string> rows(const StudySection& section) {
  std::vector<std::string> all;
  for (const auto& row : section.rows) {
    std::vector<std::string> cells;
    for (const StudyCell& cell : row) {
      const std::string& text = cell.full.empty() ? cell.text : cell.full;
      cells.push_back(cell.footnote > 0 ? "[" + std::to_string(cell.footnote) + "]" : text);
    }
    all.push_back(join(cells, "|"));
  }
  return all;
}

inline std::string header(const StudySection& section) {
  std::vector<std::string> all;
  for (const render::Column& column : section.columns) all.push_back(column.header);
  return join(all, "|");
}

}  // namespace tbench::studies
