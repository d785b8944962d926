#include "studies/products/flop_tables.hpp"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "studies/kernels/kernel_figures.hpp"
#include "studies/products/inference.hpp"
#include "studies/roofline/ceilings.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {
namespace {

constexpr double kGiga = 1e9;
constexpr double kTera = 1e12;

StudyRow share_row(std::string name, double flop, Seconds time, const Inference& of) {
  const double flops = 100 * flop / of.flop();
  const double times = percent_of(time, of.kernels);
  return {.names = {std::move(name)},
          .values = {flop / kGiga, flops, to_milliseconds(time), times,
                     flops > 0 ? std::optional{times / flops} : std::nullopt},
          .detail = {}};
}

std::vector<StudyRow> shares_of(std::span<const Record* const> records) {
  const auto forward = inference_of(records);
  if (!forward) return {};
  return {share_row("matrix products", forward->counts.products, forward->products, *forward),
          share_row("other", forward->counts.other().flop, forward->other(), *forward)};
}

StudyRowTable shares_table() {
  return {.caption = fmt::format(
              "FLOP of inference's forward pass beside the time of its kernels. Matrix products have 2 FLOP per token "
              "and weight of the layers and the LM head, and 4 B H S^2 D per layer in attention; the other operations "
              "have per element {}. Mask, embedding, copies and casts count no FLOP",
              kFlopPerElement),
          .names = {"part"},
          .quantities = {{"GFLOP", &render::format_number},
                         {"% of FLOP", &render::format_number},
                         {"ms", &render::format_number},
                         {"of kernels %", &one_digit},
                         {"time % / FLOP %", &render::format_number}},
          .detail = {},
          .rows_of = &shares_of,
          .only = {{"pass", "forward"}},
          .has_no_charts = true};
}

/// Returns the row of an operation. Its counts are 0 if they are unknown.
StudyRow operation_row(std::string name, const OperationCounts& counts, Seconds time, Seconds kernels,
                       const std::optional<Ceiling>& memory) {
  StudyRow row{.names = {std::move(name)}, .values = {to_milliseconds(time), percent_of(time, kernels)}, .detail = {}};
  if (counts.bytes > 0 && time.value > 0) {
    row.values.insert(row.values.end(),
                      {counts.flop / kGiga, counts.bytes / kGiga, counts.bytes / time.value / kTera,
                       memory ? std::optional{memory->per_second / kTera} : std::nullopt, counts.intensity()});
  }
  row.values.resize(7);
  return row;
}

std::vector<StudyRow> operations_of(const StudyCase& of) {
  const auto forward = inference_of(of.records);
  const auto times = times_outside_products(of.records);
  if (!forward || times.empty()) return {};
  const auto memory = memory_ceiling(of.all);
  std::vector<StudyRow> rows;
  Seconds sum;
  for (const auto& [name, time] : times) {
    OperationCounts known;
    for (const auto& [operation, counts] : forward->counts.others) {
      if (operation == name) known = counts;
    }
    rows.push_back(operation_row(name, known, time, forward->kernels, memory));
    sum = sum + time;
  }
  rows.push_back(operation_row("(all)", forward->counts.other(), sum, forward->kernels, memory));
  return rows;
}

StudyRowTable operations_table() {
  return {.caption =
              "Inference's operations outside matrix products, their kernels' time and their least GFLOP and GB. "
              "With 4 bytes per element, B S d_model elements of the stream and n scores: embedding, RMSNorm "
              "and RoPE of q and k read and write each element once; scale and mask, and softmax, the n = "
              "B H S^2 scores of a layer; SwiGLU reads two and writes one of B S d_ff elements; the residual's "
              "addition reads two and writes one. Max is the rate of a copy, or without its case of the fastest "
              "copy on the device in the traces; a cache may be faster",
          .names = {"part"},
          .quantities = {{"ms", &render::format_number},
                         {"of kernels %", &one_digit},
                         {"GFLOP", &render::format_number},
                         {"GB", &render::format_number},
                         {"TB/s", &render::format_number},
                         {"max TB/s", &render::format_number},
                         {"FLOP/byte", &render::format_number}},
          .detail = {},
          .rows_of = &operations_of,
          .only = {{"pass", "forward"}, {"precision", "fp32"}, {"ctx", "512"}},
          .has_no_charts = true};
}

}  // namespace

std::vector<StudyRowTable> flop_tables() { return {shares_table(), operations_table()}; }

}  // namespace tbench::studies
