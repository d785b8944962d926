#include "studies/products/flop_sentences.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>

#include "studies/engine/sentences.hpp"
#include "studies/products/inference.hpp"
#include "studies/roofline/ceilings.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {
namespace {

constexpr double kTera = 1e12;

/// Says whether products have most of the time, and less of it than of the FLOP.
std::string products_sentence(const StudyMeasurements& all, const std::string& precision) {
  std::size_t count = 0;
  std::size_t most = 0;
  std::size_t less = 0;
  for (const CaseId& id : all.cases) {
    if (!has_all(id, {{"pass", "forward"}, {"precision", precision}})) continue;
    const auto forward = inference_of(all.records_of(id));
    if (!forward) continue;
    ++count;
    most += forward->time_share() > 0.5 ? 1 : 0;
    less += forward->time_share() < forward->flop_share() ? 1 : 0;
  }
  if (count == 0) return "";
  return fmt::format(
      "In inference in {}, matrix products take over half of the kernels' time in {} of {} cases, and their share of "
      "the time is smaller than their share of the FLOP in {} of {}.",
      precision, most, count, less, count);
}

/// Returns the extremes of a figure over the sizes, with 512 tokens.
NamedRange over_sizes(const StudyMeasurements& all, const std::string& precision, double (*figure)(const Inference&)) {
  return range_over_sizes(all, {{"pass", "forward"}, {"ctx", "512"}, {"precision", precision}},
                          [&](const CaseId& id) -> std::optional<double> {
                            const auto forward = inference_of(all.records_of(id));
                            return forward ? std::optional{figure(*forward)} : std::nullopt;
                          });
}

/// Compares the shares of time and FLOP of matrix products, and of all other kernels.
std::string shares_sentence(const StudyMeasurements& all, const std::string& precision) {
  const NamedRange time = over_sizes(all, precision, [](const Inference& of) { return 100 * of.time_share(); });
  if (time.count == 0) return "";
  const NamedRange flop = over_sizes(all, precision, [](const Inference& of) { return 100 * of.flop_share(); });
  const NamedRange others = over_sizes(all, precision, [](const Inference& of) { return 100 * (1 - of.time_share()); });
  const NamedRange other_flop =
      over_sizes(all, precision, [](const Inference& of) { return 100 * (1 - of.flop_share()); });
  const NamedRange ratio =
      over_sizes(all, precision, [](const Inference& of) { return (1 - of.time_share()) / (1 - of.flop_share()); });
  return fmt::format(
      "In inference with 512 tokens in {}, matrix products take {} of the kernels' time for {} of the FLOP. All other "
      "kernels, elementwise operations, casts, reductions and softmax, take {} of the time for {} of the FLOP: their "
      "share of "
      "time is {} "
      "times their share of FLOP.",
      precision, time.text("%"), flop.text("%"), others.text("%"), other_flop.text("%"), ratio.text());
}

/// Returns the rates of softmax's kernels in percent of the memory ceiling, over the sizes.
NamedRange softmax_of_ceiling(const StudyMeasurements& all, double ceiling) {
  return range_over_sizes(all, {{"pass", "forward"}, {"ctx", "512"}, {"precision", "fp32"}},
                          [&](const CaseId& id) -> std::optional<double> {
                            const auto counts = attention_counts(id);
                            const auto rate = counts ? softmax_rate(all.records_of(id), *counts) : std::nullopt;
                            return rate ? std::optional{100 * *rate / ceiling} : std::nullopt;
                          });
}

/// Says what limits the kernels outside matrix products; empty without ceilings.
std::string limit_sentence(const StudyMeasurements& all) {
  const auto roofline = roofline_of(all, "fp32");
  const NamedRange share = over_sizes(all, "fp32", [](const Inference& of) { return 100 * (1 - of.time_share()); });
  if (!roofline || share.count == 0) return "";
  const NamedRange rate =
      over_sizes(all, "fp32", [](const Inference& of) { return of.counts.other().bytes / of.other().value / kTera; });
  const NamedRange intensity =
      over_sizes(all, "fp32", [](const Inference& of) { return of.counts.other().intensity(); });
  const bool is_memory_bound = roofline->is_memory_bound(intensity.high);
  const std::string text = fmt::format(
      "In inference with 512 tokens in fp32, {} of the kernels' time is spent outside matrix products. {} these "
      "kernels: their operations have at most {} FLOP/byte, {} {}. Their least reads and writes are {} TB/s in that "
      "time.",
      share.text("%"), is_memory_bound ? "Compute does not limit" : "Compute may limit", intensity.text(),
      is_memory_bound ? "below" : "not all below", roofline->ridge_text(), rate.text());
  const NamedRange softmax = softmax_of_ceiling(all, roofline->memory.per_second);
  if (softmax.count == 0) return text;
  return text + fmt::format(" An operation of several kernels moves more: softmax's kernels reach {} of the {} TB/s{}.",
                            softmax.text("%"), render::format_number(roofline->memory.per_second / kTera),
                            softmax.low > 50 ? ", so memory bandwidth limits them" : "");
}

}  // namespace

std::vector<std::string> flop_sentences(const StudyMeasurements& all) {
  std::vector<std::string> found;
  for (const std::string precision : {"fp32", "bf16"}) found.push_back(products_sentence(all, precision));
  for (const std::string precision : {"fp32", "bf16"}) found.push_back(shares_sentence(all, precision));
  found.push_back(limit_sentence(all));
  std::erase(found, "");
  return found;
}

}  // namespace tbench::studies
