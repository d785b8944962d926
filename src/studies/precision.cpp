// The studies of precision: the time that a lower precision saves.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::precision {
namespace {

/// Returns the GPU's time in milliseconds for Q K^T with its scale, mask and casts, summed over all layers of the
/// forward pass.
double scores_ms(const StepTrace& trace, Seconds /*step*/) {
  return to_milliseconds(forward_time_of(trace, {"attention.scores"}));
}

double casts_percent(const StepTrace& trace, Seconds /*step*/) {
  Seconds casts{}, all{};
  for (const TracedKernel& operation : trace.kernels) {
    all = all + operation.total;
    if (operation.kernel_class == "cast") casts = casts + operation.total;
  }
  return percent_of(casts, all);
}

/// Returns a table of a quantity that needs traces, so that --tb_trace=on adds it to the study.
StudyTable traced_table(std::string caption, StudyColumn column) {
  return {.caption = std::move(caption), .spread = {"precision"}, .columns = {std::move(column)}, .needs_trace = true};
}

std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::vector<std::string> found;
  for (const std::string pass : {"forward", "forward_backward"}) {
    const NamedRange gains =
        range_over_sizes(all, {{"pass", pass}, {"ctx", "512"}, {"precision", "bf16"}},
                         [&](const CaseId& id) { return gain_over(all, id, "precision", "fp32"); });
    if (gains.count == 0) continue;
    found.push_back(fmt::format("bf16 against fp32 by the GPU's own time, {} with 512 tokens: a factor of {}.", pass,
                                gains.text()));
  }
  return found;
}

/// The time that lower precision saves.
Study precision_study() {
  StudyTable scores =
      traced_table("Attention's scores alone, the GPU's ms of a forward pass: Q K^T, scale, mask and their casts",
                   trace_column("scores ms", &scores_ms, &render::format_number));
  scores.speed_up = StudySpeedUp{.base = {{"precision", "fp32"}}};
  return {.name = "precision",
          .title = "Time by precision, and the speed-up over float32 without TF32",
          .grids = {model_grid({"128", "256", "512", "1024"}, {"forward", "forward_backward"},
                               {"fp32", "tf32", "bf16", "fp16"})},
          .tables = {{
                         .caption = "Median ms; the speed-up is fp32's time over the other's",
                         .spread = {"precision"},
                         .columns = {step_time_column()},
                         .speed_up = StudySpeedUp{.base = {{"precision", "fp32"}}},
                     },
                     std::move(scores),
                     traced_table("What autocast's casts cost: copies to another type, of the GPU's time in a step",
                                  trace_column("casts %", &casts_percent, &one_digit))},
          .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "precision", .order = 30, .make = &precision_study});

/// The effect of TF32 products on attention's time, on the course's grid.
Study tf32_study() {
  return {.name = "tf32",
          .title = "Attention's forward and backward with TF32 off and on",
          .grids = {course_attention_grid({"fp32", "tf32"}, {"naive", "compiled"})},
          .tables = {{
              .caption = "fp32: TF32 off, tf32: on. Medians: the forward pass alone; the backward's part of "
                         "forward and backward. A change is (on - off) / off of the time: -50 is half the time",
              .spread = {"pass", "precision"},
              .columns = {attention_forward_column(), attention_backward_column()},
              .speed_up = StudySpeedUp{.base = {{"precision", "fp32"}}, .as = StudyComparison::kChange},
          }},
          .if_known = {{"Attention", {"impl", {"compiled"}}}},
          .open_to_plugins = {"Attention"}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "tf32", .order = 60, .make = &tf32_study});

}  // namespace
}  // namespace tbench::studies::precision
