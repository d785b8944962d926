#include "studies/softmax/tables.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "studies/roofline/attention_counts.hpp"
#include "studies/roofline/ceilings.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {
namespace {

using Records = std::span<const Record* const>;

constexpr double kGiga = 1e9;
constexpr double kTera = 1e12;

std::optional<double> ratio(double above, double below) {
  return below > 0 ? std::optional{above / below} : std::nullopt;
}

std::vector<StudyRow> times_by_phase(Records records) {
  std::vector<StudyRow> rows;
  for (const TracedAttention& time : traced_ranges(records).attention) {
    const Seconds matmul = time.scores + time.context;
    const double all = (time.softmax + matmul + time.other).value;
    rows.push_back({.names = {time.phase},
                    .values = {to_milliseconds(time.softmax), to_milliseconds(time.scores),
                               to_milliseconds(time.context), to_milliseconds(time.other),
                               ratio(100 * time.softmax.value, all), ratio(100 * time.softmax.value, matmul.value)},
                    .detail = {}});
  }
  return rows;
}

StudyRowTable times_table() {
  return {.caption =
              "The GPU's ms of a step, all layers together. Softmax has all kernels of its range; context is the "
              "product of the weights and V; the rest of attention's core is scale, mask and casts",
          .names = {"phase"},
          .quantities = {{"softmax ms", &render::format_number},
                         {"QK^T ms", &render::format_number},
                         {"context ms", &render::format_number},
                         {"rest ms", &render::format_number},
                         {"softmax % of all", &one_digit},
                         {"softmax / matmul: time %", &one_digit}},
          .detail = {},
          .rows_of = &times_by_phase};
}

StudyRow flop_row(std::string name, const AttentionCounts& of, double layers) {
  const double unit = kGiga * of.layers / layers;
  return {.names = {std::move(name)},
          .values = {of.scores.flop / unit, of.softmax.flop / unit, of.context.flop / unit,
                     (of.products().flop + of.softmax.flop) / unit},
          .detail = {}};
}

std::vector<StudyRow> flop_of(Records records) {
  const auto counts = attention_counts(records.front()->id);
  if (!counts) return {};
  return {flop_row("one layer", *counts, 1),
          flop_row(fmt::format("all {} layers", counts->layers), *counts, counts->layers)};
}

StudyRowTable flop_table() {
  return {.caption =
              "FLOP of attention's core in one forward pass, in any precision. Per layer, QK^T has 2 B H S^2 D, "
              "softmax has 5 B H S^2 (maximum, difference, exponential, sum, quotient), and context, the "
              "product of the weights and V, has 2 B H S^2 D; B is the batch, H the number of heads, S the "
              "context length, and D the head dimension. Masked scores count",
          .names = {"part"},
          .quantities = {{"QK^T GFLOP", &render::format_number},
                         {"softmax GFLOP", &render::format_number},
                         {"context GFLOP", &render::format_number},
                         {"sum GFLOP", &render::format_number}},
          .detail = {},
          .rows_of = &flop_of,
          .only = {{"pass", "forward"}, {"precision", "fp32"}},
          .has_no_charts = true};
}

std::vector<StudyRow> shares_of(Records records) {
  const auto time = forward_attention(records);
  const auto counts = attention_counts(records.front()->id);
  if (!time || !counts) return {};
  const Seconds products = time->scores + time->context;
  const Seconds all = products + time->softmax + time->other;
  const double flop = counts->products().flop + counts->softmax.flop;
  const auto row = [&](std::string name, Seconds part, std::optional<double> of_flop) -> StudyRow {
    const double times = percent_of(part, all);
    const auto flops = of_flop ? std::optional{100 * *of_flop / flop} : std::nullopt;
    return {.names = {std::move(name)},
            .values = {to_milliseconds(part), times, flops, flops ? ratio(times, *flops) : std::nullopt},
            .detail = {}};
  };
  return {row("products", products, counts->products().flop), row("softmax", time->softmax, counts->softmax.flop),
          row("rest", time->other, std::nullopt)};
}

StudyRowTable shares_table() {
  return {.caption =
              "Shares of attention's core (QK^T, scale, mask, softmax, context) in its time and in its FLOP. "
              "Products are QK^T and context; the rest is scale, mask and casts, whose FLOP do not count",
          .names = {"part"},
          .quantities = {{"ms", &render::format_number},
                         {"% of time", &one_digit},
                         {"% of FLOP", &one_digit},
                         {"time % / FLOP %", &render::format_number}},
          .detail = {},
          .rows_of = &shares_of,
          .only = {{"pass", "forward"}},
          .has_no_charts = true};
}

/// Returns the row of one part: its rates, the ceilings, its arithmetic intensity and the limit that follows.
/// @param moved  the bytes that its kernels read and write, if they are known
StudyRow roofline_row(std::string name, const OperationCounts& counts, Seconds time, std::optional<double> moved,
                      const std::optional<Ceiling>& compute, const std::optional<Ceiling>& memory) {
  const auto tera = [](const std::optional<Ceiling>& ceiling) {
    return ceiling ? std::optional{ceiling->per_second / kTera} : std::nullopt;
  };
  StudyRow row{
      .names = {std::move(name)},
      .values = {ratio(counts.flop / kTera, time.value), tera(compute), ratio(counts.bytes / kTera, time.value),
                 moved ? ratio(*moved / kTera, time.value) : std::nullopt, tera(memory), counts.intensity()},
      .detail = {}};
  if (compute && memory) {
    const Roofline roofline{.compute = *compute, .memory = *memory};
    row.values.emplace_back(roofline.ridge());
    row.detail = roofline.is_memory_bound(counts.intensity()) ? "memory" : "compute";
  }
  row.values.resize(7);
  return row;
}

std::vector<StudyRow> roofline_rows(const StudyCase& of) {
  const CaseId& id = of.records.front()->id;
  const auto time = forward_attention(of.records);
  const auto counts = attention_counts(id);
  if (!time || !counts) return {};
  const auto compute = compute_ceiling(of.all, value_or_empty(id, "precision"));
  const auto memory = memory_ceiling(of.all);
  return {roofline_row("QK^T", counts->scores, time->scores, {}, compute, memory),
          roofline_row("softmax", counts->softmax, time->softmax, moved_by_softmax(of.records, *counts),
                       compute_ceiling(of.all, "fp32"), memory),
          roofline_row("context", counts->context, time->context, {}, compute, memory)};
}

StudyRowTable roofline_table(const std::string& precision) {
  const std::string bytes = precision == "fp32" ? "4" : "2";
  return {.caption =
              "Rates of attention's parts in the forward pass beside the measured ceilings (max): a large "
              "matrix product in the precision (for softmax in fp32), and a copy, or without its case the "
              "fastest copy on the device in the traces; a cache may be faster. TB/s: each input read and each "
              "output written once, " +
              bytes +
              " bytes per element; moved: all that softmax's kernels read and write, if all are in float32. "
              "The limit is memory if FLOP/byte are below the ridge point, max TFLOP/s over max TB/s",
          .names = {"part"},
          .quantities = {{"TFLOP/s", &render::format_number},
                         {"max TFLOP/s", &render::format_number},
                         {"TB/s", &render::format_number},
                         {"moved TB/s", &render::format_number},
                         {"max TB/s", &render::format_number},
                         {"FLOP/byte", &render::format_number},
                         {"ridge", &render::format_number}},
          .detail = "limit",
          .rows_of = &roofline_rows,
          .only = {{"pass", "forward"}, {"precision", precision}},
          .has_no_charts = true};
}

}  // namespace

std::vector<StudyRowTable> attention_tables() {
  return {times_table(), flop_table(), shares_table(), roofline_table("fp32"), roofline_table("bf16")};
}

}  // namespace tbench::studies
