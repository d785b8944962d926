// The studies of precision: the time that a lower precision saves, the types of operations under autocast, and the
// error of long sums.
#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::precision {
namespace {

/// Returns the columns of a subject: its operations, and the columns that every subject has.
std::vector<StudyColumn> quantities(std::initializer_list<const char*> operations) {
  std::vector<StudyColumn> columns{number_column("forward and backward ms", "median_ms"),
                                   finding_column("parameters", "parameters")};
  for (const char* operation : operations) columns.push_back(finding_column(operation, operation));
  columns.push_back(finding_column("gradients", "gradients"));
  return columns;
}

StudyTable table_of(const std::string& subject, std::vector<StudyColumn> columns) {
  return {.caption = "One dtype: runs in it and returns it; a -> b: runs in a, returns b; a+b: takes both",
          .spread = {"precision"},
          .columns = std::move(columns),
          .only = {{"subject", subject}},
          .quantities_down = true};
}

using Values = std::vector<std::string>;

/// Formats a value with all its digits, because the sums of the course are compared digit by digit.
std::string all_digits(double value) { return fmt::format("{}", value); }

std::string error_text(double value) { return fmt::format("{:.2e}", value); }

FamilyGrid grid(std::string op, Values n, std::string input, std::string accumulator, Values method) {
  return {.family = "Accumulation",
          .axes = {{"op", {std::move(op)}},
                   {"n", std::move(n)},
                   {"input", {std::move(input)}},
                   {"accumulator", {std::move(accumulator)}},
                   {"method", std::move(method)}}};
}

std::vector<FamilyGrid> grids() {
  const Values course{"1000"}, longer{"1000", "10000"}, longest{"1000", "10000", "100000"};
  const Values lengths{"1024", "65536", "1048576"};
  const Values extents{"256", "1024", "4096", "16384", "65536"};
  const Values orders{"sequential", "pairwise", "kahan"};
  return {grid("sum", longest, "fp32", "fp32", {"sequential"}),
          grid("sum", longer, "fp16", "fp16", {"sequential"}),
          grid("sum", longer, "fp16", "fp32", {"sequential"}),
          grid("sum", course, "fp16", "fp32", {"cast_up"}),
          grid("sum", longer, "bf16", "bf16", {"sequential"}),
          grid("sum", course, "bf16", "fp32", {"sequential", "cast_up"}),
          grid("reduce", lengths, "fp32", "fp32", {"sequential", "pairwise", "kahan", "aten"}),
          grid("reduce", lengths, "fp16", "fp16", orders),
          grid("reduce", lengths, "fp16", "fp32", {"aten"}),
          grid("reduce", lengths, "bf16", "bf16", orders),
          grid("reduce", lengths, "bf16", "fp32", {"aten"}),
          grid("dot", lengths, "fp32", "fp32", {"sequential", "kahan", "aten"}),
          grid("dot", lengths, "fp16", "fp16", {"sequential", "kahan"}),
          grid("dot", lengths, "fp16", "fp32", {"sequential"}),
          grid("dot", lengths, "bf16", "bf16", {"sequential"}),
          grid("matmul", extents, "fp32", "fp32", {"aten"}),
          grid("matmul", extents, "fp16", "fp32", {"aten", "cublaslt"}),
          grid("matmul", extents, "fp16", "fp16", {"aten", "cublaslt"}),
          grid("matmul", extents, "bf16", "fp32", {"aten", "cublaslt"})};
}

StudyColumn error_column() {
  StudyColumn column = number_column("relative error", "relative_error");
  column.format = &error_text;
  return column;
}

StudyTable by_length(const std::string& op, const std::string& caption, StudyColumn column) {
  return {.caption = caption, .spread = {"n"}, .columns = {std::move(column)}, .only = {{"op", op}}};
}

/// Returns the GPU's time in milliseconds for Q K^T with its scale, mask and casts, summed over all layers of the
/// forward pass.
double scores_ms(const StepTrace& trace, Seconds /*step*/) {
  Seconds sum{};
  for (const TracedRange& range : trace.ranges) {
    const bool is_forward = range.path.starts_with("FORWARD/") && range.path.ends_with("/attention.scores");
    if (is_forward) sum = sum + range.gpu_sum;
  }
  return to_milliseconds(sum);
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
                                  trace_column("casts %", &casts_percent, &one_digit))}};
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

/// The dtypes in which operations run and return under autocast, in the course's toy model and in the transformer. The
/// names are the labels of the Autocast family, in the order of the computation.
Study autocast_study() {
  return {
      .name = "autocast",
      .title = "Dtypes under autocast, as the tensors have them",
      .grids = {{.family = "Autocast", .axes = {{"subject", {"toy", "transformer"}}, {"precision", {"fp16", "bf16"}}}}},
      .tables = {
          table_of("toy", quantities({"fc1", "relu", "layer norm", "logits", "loss"})),
          table_of("transformer",
                   quantities({"embedding",      "rmsnorm",   "q projection",      "k projection", "v projection",
                               "rope",           "scores",    "masked scores",     "softmax exp",  "softmax sum",
                               "softmax",        "context",   "output projection", "residual",     "swiglu gate",
                               "swiglu sigmoid", "swiglu up", "swiglu product",    "swiglu down",  "logits",
                               "loss exp",       "loss"}))}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "autocast", .order = 100, .make = &autocast_study});

/// The value of a long sum in each accumulator: the course's sums of 0.01, sums and dot products of seeded values in
/// several orders, and matrix products of growing inner extent.
Study accumulation_study() {
  StudyColumn result = number_column("result", "result");
  result.format = &all_digits;
  Study study{
      .name = "accumulation",
      .title = "Where an accumulator breaks: error against float64 by length, format and order",
      .grids = grids(),
      .tables = {{.caption = "n additions of 0.01; the error is against the float64 sum of the addends as stored",
                  .spread = {},
                  .columns = {std::move(result), error_column(), number_column("ms", "median_ms")},
                  .only = {{"op", "sum"}}}}};
  for (const std::string op : {"reduce", "dot", "matmul"}) {
    study.tables.push_back(by_length(op, "Relative error against float64", error_column()));
    study.tables.push_back(by_length(op, "Median ms", number_column("ms", "median_ms")));
  }
  return study;
}

TBENCH_REGISTER(RegisteredStudy, {.name = "accumulation", .order = 90, .make = &accumulation_study});

}  // namespace
}  // namespace tbench::studies::precision
