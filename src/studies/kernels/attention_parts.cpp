// Breaks attention's core down into its two products, softmax with its exponential, and the rest: in the forward pass,
// and in one layer.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "studies/engine/studies.hpp"
#include "studies/kernels/attention_sums.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::attention_parts {
namespace {

constexpr double kMicro = 1e6;

/// Returns a row per part of the forward pass's core, and the row of the core.
std::vector<StudyRow> by_part(std::span<const Record* const> records) {
  const std::vector<AttentionKernel> core = core_of(records, "forward");
  if (core.empty()) return {};
  const OperationSum whole = sum_of(core);
  const Seconds forward = time_in(records, "forward");
  std::vector<NamedSum> parts = five_parts(core);
  parts.push_back({"(core)", whole});
  std::vector<StudyRow> rows;
  for (const auto& [name, sum] : parts) {
    rows.push_back(
        {.names = {name},
         .values = {to_milliseconds(sum.total), percent_of(sum.total, whole.total), percent_of(sum.total, forward)},
         .detail = {}});
  }
  return rows;
}

/// Returns a row per kernel of the forward pass's softmax in the order of its steps, and the rows of the sums.
std::vector<StudyRow> by_kernel_of_softmax(std::span<const Record* const> records) {
  const std::vector<AttentionKernel> core = core_of(records, "forward");
  const Seconds forward = time_in(records, "forward");
  std::vector<StudyRow> rows;
  const auto add = [&](const std::string& name, const OperationSum& sum, const std::string& kernel) {
    rows.push_back({.names = {name},
                    .values = {sum.calls, to_milliseconds(sum.total), percent_of(sum.total, forward)},
                    .detail = kernel});
  };
  for (const std::string_view step : softmax_steps()) {
    for (const AttentionKernel& kernel : core) {
      if (kernel.step == step) add(kernel.step, {.calls = kernel.calls, .total = kernel.total}, kernel.name);
    }
  }
  if (rows.empty()) return {};
  for (const auto& [name, sum] : softmax_sums(core)) add(name, sum, "");
  return rows;
}

/// Returns a row per phase and part: the means over the layers. The calls of a range do not give the number of layers,
/// because the range of the scores opens twice in a layer of forward.
std::vector<StudyRow> by_layer(const StudyCase& of) {
  const std::optional<double> layers = layers_of(of.records.front()->id, of.all.sizes);
  if (!layers) return {};
  std::vector<StudyRow> rows;
  for (const TracedPhase& phase : traced_phases(of.records)) {
    const std::vector<AttentionKernel> core = core_of(of.records, phase.name);
    if (core.empty()) continue;
    const OperationSum whole = sum_of(core);
    std::vector<NamedSum> parts = four_parts(core);
    parts.push_back({"(all)", whole});
    for (const auto& [name, sum] : parts) {
      rows.push_back({.names = {phase.name, name},
                      .values = {sum.calls / *layers, sum.total.value / *layers * kMicro,
                                 percent_of(sum.total, whole.total), percent_of(sum.total, phase.total)},
                      .detail = {}});
    }
  }
  return rows;
}

/// Returns the size, the context and the precision of a case: `small, 512 tokens, fp32`.
std::string case_text(const CaseId& id) {
  return fmt::format("{}, {} tokens, {}", id.at("size"), id.at("ctx"), id.at("precision"));
}

/// Returns softmax's percentage of forward, and the exponential's percentage. Returns an empty text without softmax.
std::string softmax_sentence(const CaseId& id, std::span<const Record* const> records) {
  const std::vector<AttentionKernel> core = core_of(records, "forward");
  const Seconds forward = time_in(records, "forward");
  const Seconds softmax = sum_of(core, AttentionPart::kSoftmax).total;
  if (softmax.value <= 0) return {};
  const std::string start = fmt::format("Softmax takes {:.1f} % of the GPU's time in the forward pass of {}",
                                        percent_of(softmax, forward), case_text(id));
  if (sum_of(core, kFused).calls > 0) return start + ", in a fused kernel that hides its exponential.";
  const Seconds exponential = sum_of(core, kExponential).total;
  if (exponential.value <= 0) return start + ".";
  return fmt::format("{}: {:.1f} % for the exponential and {:.1f} % for the other kernels of softmax.", start,
                     percent_of(exponential, forward), percent_of(softmax - exponential, forward));
}

/// Returns the time and the kernels of one layer's attention: `368.7 us in 11 kernels in forward`.
std::string layer_text(std::span<const AttentionKernel> core, double layers, std::string_view phase) {
  const OperationSum all = sum_of(core);
  return fmt::format("{} us in {} kernels in {}", render::format_number(all.total.value / layers * kMicro),
                     count_text(all.calls / layers), phase);
}

/// Returns the time of one layer's attention in forward and in backward, and the largest part of each. Returns an empty
/// text without one of them.
std::string layer_sentence(const CaseId& id, std::span<const Record* const> records, std::span<const ModelSize> sizes) {
  const std::optional<double> layers = layers_of(id, sizes);
  const std::vector<AttentionKernel> forward = core_of(records, "forward");
  const std::vector<AttentionKernel> backward = core_of(records, "backward");
  if (!layers || forward.empty() || backward.empty()) return {};
  const std::string first = largest_part(forward);
  const std::string second = largest_part(backward);
  return fmt::format("The core of attention in one layer of {} takes {} and {}. The largest part {}.", case_text(id),
                     layer_text(forward, *layers, "forward"), layer_text(backward, *layers, "backward"),
                     first == second ? fmt::format("of both is {}", first)
                                     : fmt::format("is {} in forward and {} in backward", first, second));
}

/// Returns a sentence for the first traced case of each pass and precision: about softmax in a forward pass, about one
/// layer in a training step.
std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::set<std::string> told;
  std::vector<std::string> found;
  for (const CaseId& id : all.cases) {
    const std::string kind = id.at("pass") + id.at("precision");
    if (told.contains(kind)) continue;
    const std::span<const Record* const> records = all.records_of(id);
    std::string sentence =
        id.at("pass") == "forward" ? softmax_sentence(id, records) : layer_sentence(id, records, all.sizes);
    if (sentence.empty()) continue;
    told.insert(kind);
    found.push_back(std::move(sentence));
  }
  return found;
}

StudyRowTable part_table() {
  return {.caption =
              "The parts of attention's core in the forward pass alone (pass:forward), all layers together. "
              "Percentages are of the core, where the parts sum to 100, and of all of the forward pass's GPU "
              "time. Others: scale, mask, casts, copies and fills",
          .names = {"part"},
          .quantities = {{"ms", &render::format_number}, {"% of core", &one_digit}, {"% of forward", &one_digit}},
          .detail = {},
          .rows_of = &by_part,
          .only = {{"pass", "forward"}}};
}

StudyRowTable softmax_table() {
  return {.caption =
              "The kernels of softmax in the forward pass alone (pass:forward), by what each does, all layers "
              "together. ATen subtracts by an addition of the negative. Percentages are of all of the forward "
              "pass's GPU time; rows in parentheses are sums",
          .names = {"step"},
          .quantities = {{"kernels", &count_text}, {"ms", &render::format_number}, {"% of forward", &one_digit}},
          .detail = "kernel",
          .rows_of = &by_kernel_of_softmax,
          .only = {{"pass", "forward"}},
          .has_kernels = true,
          .has_no_charts = true};
}

StudyRowTable layer_table() {
  return {.caption =
              "The core of one layer's attention in a training step, the mean over the layers: kernels and GPU "
              "time, which also has copies and fills. Backward counts for the forward part that it "
              "differentiates. Others: scale, mask, casts, copies and fills",
          .names = {"phase", "part"},
          .quantities = {{"kernels", &count_text},
                         {"mean us", &render::format_number},
                         {"% of core", &one_digit},
                         {"% of phase", &one_digit}},
          .detail = {},
          .rows_of = &by_layer,
          .only = {{"pass", "train_step"}},
          .has_no_charts = true};
}

Study attention_parts_study() {
  return {.name = "attention_parts",
          .title = "The parts of attention on one basis",
          .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .row_tables = {part_table(), softmax_table(), layer_table()},
          .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "attention_parts", .order = 172, .make = &attention_parts_study});

}  // namespace
}  // namespace tbench::studies::attention_parts
