// Compares softmax with the matrix products of attention, in time and in FLOP.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::softmax_vs_matmul {
namespace {

constexpr double kGiga = 1e9;
constexpr double kTera = 1e12;

std::optional<double> ratio(double above, double below) {
  return below > 0 ? std::optional{above / below} : std::nullopt;
}

std::optional<double> percent(double above, double below) {
  const auto value = ratio(above, below);
  return value ? std::optional{100 * *value} : std::nullopt;
}

std::vector<StudyQuantity> quantities() {
  return {{"softmax ms", &render::format_number},
          {"QK^T ms", &render::format_number},
          {"context ms", &render::format_number},
          {"rest ms", &render::format_number},
          {"softmax % of all", &one_digit},
          {"softmax / matmul: time %", &one_digit},
          {"softmax GFLOP", &render::format_number},
          {"matmul GFLOP", &render::format_number},
          {"FLOP %", &one_digit},
          {"time % / FLOP %", &render::format_number},
          {"matmul TFLOP/s", &render::format_number},
          {"softmax TFLOP/s", &render::format_number}};
}

StudyRow row_of(const TracedAttention& time, const std::optional<AttentionFlop>& flop) {
  const Seconds matmul = time.scores + time.context;
  const double all = (time.softmax + matmul + time.other).value;
  StudyRow row{.names = {time.phase},
               .values = {to_milliseconds(time.softmax), to_milliseconds(time.scores), to_milliseconds(time.context),
                          to_milliseconds(time.other), percent(time.softmax.value, all),
                          percent(time.softmax.value, matmul.value)},
               .detail = {}};
  if (flop) {
    const auto times = ratio(time.softmax.value, matmul.value);
    const double flops = flop->softmax / flop->matmul;
    row.values.insert(
        row.values.end(),
        {flop->softmax / kGiga, flop->matmul / kGiga, 100 * flops, times ? std::optional{*times / flops} : std::nullopt,
         ratio(flop->matmul / kTera, matmul.value), ratio(flop->softmax / kTera, time.softmax.value)});
  }
  row.values.resize(quantities().size());
  return row;
}

std::vector<StudyRow> by_phase(std::span<const Record* const> records) {
  std::vector<StudyRow> rows;
  for (const TracedAttention& time : traced_ranges(records).attention) {
    const bool counts = time.phase == "forward";
    rows.push_back(row_of(time, counts ? attention_flop(records.front()->id) : std::nullopt));
  }
  return rows;
}

const CaseId& products_case() {
  static const CaseId kId = CaseId::parse("Ceiling/what:gemm_fp32/regime:sustained");
  return kId;
}

/// Returns the shares that the two rates have of the GPU's ceilings, as ` Of this GPU's ceilings, ...`; empty without
/// any ceiling.
/// @param bytes  per second
/// @param flop   per second
std::string shares_of_ceilings(const StudyMeasurements& all, double bytes, double flop) {
  std::vector<std::string> shares;
  const auto products = median_of(all.records_of(products_case()), "flop_per_second");
  if (products && *products > 0) {
    shares.push_back(fmt::format("the products' rate is {:.0f} % of the {} TFLOP/s of a large product in fp32",
                                 100 * flop / *products, render::format_number(*products / kTera)));
  }
  const auto copy = median_of(all.records_of(copy_case()), "bytes_per_second");
  if (copy && *copy > 0) {
    shares.push_back(fmt::format("softmax's is {:.0f} % of the {} TB/s of a copy", 100 * bytes / *copy,
                                 render::format_number(*copy / kTera)));
  }
  return shares.empty() ? "" : fmt::format(" Of this GPU's ceilings, {}.", join(shares, ", and "));
}

/// Returns a sentence about the first forward pass in float32 that was traced. Its scores have four bytes each, and
/// softmax at least reads and writes them once.
std::vector<std::string> sentences(const StudyMeasurements& all) {
  constexpr double kBytes = 2 * 4;
  constexpr double kFlopPerScore = 5;
  for (const CaseId& id : all.cases) {
    if (!has_all(id, {{"pass", "forward"}, {"precision", "fp32"}, {"ctx", "512"}})) continue;
    const std::span<const Record* const> records = all.records_of(id);
    const std::vector<TracedAttention> times = traced_ranges(records).attention;
    const auto time = std::ranges::find(times, "forward", &TracedAttention::phase);
    const auto flop = attention_flop(id);
    if (time == times.end() || !flop || time->softmax.value <= 0) continue;
    const Seconds matmul = time->scores + time->context;
    if (matmul.value <= 0) continue;
    const double flop_rate = flop->matmul / matmul.value;
    const double byte_rate = flop->softmax / kFlopPerScore * kBytes / time->softmax.value;
    return {
        fmt::format(
            "Softmax of {}, {} tokens, fp32, forward: {} ms; attention's matrix products: {} ms. Softmax takes {} "
            "times the time of the products for {:.1f} % of their FLOP: the products reach {} TFLOP/s, and one read "
            "and one write of the scores in softmax's time are {} TB/s.",
            id.at("size"), id.at("ctx"), render::format_number(to_milliseconds(time->softmax)),
            render::format_number(to_milliseconds(matmul)), render::format_number(time->softmax / matmul),
            100 * flop->softmax / flop->matmul, render::format_number(flop_rate / kTera),
            render::format_number(byte_rate / kTera)) +
        shares_of_ceilings(all, byte_rate, flop_rate)};
  }
  return {};
}

Study softmax_vs_matmul_study() {
  return {
      .name = "softmax_vs_matmul",
      .title = "Softmax beside the matrix products of attention: time against FLOP",
      .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
      .protocol = {.needs_trace = true},
      .row_tables = {{.caption = "The GPU's ms of a step, all layers together. Softmax has all kernels of its range; "
                                 "the rest of attention's core is scale, mask and casts. FLOP of the forward pass: "
                                 "5 B H S^2 and 4 B H S^2 D",
                      .names = {"phase"},
                      .quantities = quantities(),
                      .detail = {},
                      .rows_of = &by_phase}},
      .beside = {copy_case(), products_case()},
      .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "softmax_vs_matmul", .order = 170, .make = &softmax_vs_matmul_study});

}  // namespace
}  // namespace tbench::studies::softmax_vs_matmul
