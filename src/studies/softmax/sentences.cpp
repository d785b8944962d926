#include "studies/softmax/sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/sentences.hpp"
#include "studies/engine/study_traces.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "studies/roofline/attention_counts.hpp"
#include "studies/roofline/ceilings.hpp"
#include "studies/roofline/forward_parts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {
namespace {

constexpr double kTera = 1e12;

std::string number(double value) { return render::format_number(value); }
std::string tera(double value) { return number(value / kTera); }

/// A forward pass with the times of attention's core.
struct Forward {
  CaseId id;
  std::span<const Record* const> records;
  TracedAttention time;
  AttentionCounts counts;

  [[nodiscard]] Seconds products() const { return time.scores + time.context; }
  [[nodiscard]] Seconds core() const { return products() + time.softmax + time.other; }
  [[nodiscard]] double flop_rate() const { return counts.products().flop / products().value; }
  [[nodiscard]] double all_flop() const { return counts.products().flop + counts.softmax.flop; }
  [[nodiscard]] std::string name() const { return fmt::format("{}, {} tokens", id.at("size"), id.at("ctx")); }
};

/// Returns the forward passes in the precision whose softmax and products have times, in the study's order.
std::vector<Forward> forward_passes(const StudyMeasurements& all, const std::string& precision) {
  std::vector<Forward> found;
  for (const CaseId& id : all.cases) {
    if (!has_all(id, {{"pass", "forward"}, {"precision", precision}})) continue;
    const std::span<const Record* const> records = all.records_of(id);
    const auto time = forward_attention(records);
    const auto counts = attention_counts(id);
    if (!time || !counts) continue;
    Forward forward{.id = id, .records = records, .time = *time, .counts = *counts};
    if (time->softmax.value > 0 && forward.products().value > 0) found.push_back(std::move(forward));
  }
  return found;
}

/// Returns the shares that the two rates have of the GPU's ceilings, as ` Of this GPU's ceilings, ...`; empty without
/// any ceiling.
/// @param bytes  per second
/// @param flop   per second
std::string shares_of_ceilings(const StudyMeasurements& all, double bytes, double flop) {
  std::vector<std::string> shares;
  if (const auto products = compute_ceiling(all, "fp32")) {
    shares.push_back(fmt::format("the products' rate is {:.0f} % of the {} TFLOP/s of {}",
                                 100 * flop / products->per_second, tera(products->per_second), products->of));
  }
  if (const auto memory = memory_ceiling(all)) {
    shares.push_back(fmt::format("softmax's is {:.0f} % of the {} TB/s of {}", 100 * bytes / memory->per_second,
                                 tera(memory->per_second), memory->of));
  }
  return shares.empty() ? "" : fmt::format(" Of this GPU's ceilings, {}.", join(shares, ", and "));
}

std::string times_sentence(const StudyMeasurements& all, const Forward& of) {
  const double byte_rate = of.counts.softmax.bytes / of.time.softmax.value;
  return fmt::format(
             "Softmax of {}, fp32, forward: {} ms; attention's matrix products: {} ms. Softmax takes {} times the time "
             "of the products for {:.1f} % of their FLOP: the products reach {} TFLOP/s, and one read and one write of "
             "the scores in softmax's time are {} TB/s.",
             of.name(), number(to_milliseconds(of.time.softmax)), number(to_milliseconds(of.products())),
             number(of.time.softmax / of.products()), 100 * of.counts.softmax.flop / of.counts.products().flop,
             tera(of.flop_rate()), tera(byte_rate)) +
         shares_of_ceilings(all, byte_rate, of.flop_rate());
}

std::string shares_sentence(const Forward& of) {
  const double products = of.products() / of.core();
  const double softmax = of.time.softmax / of.core();
  const double products_flop = of.counts.products().flop / of.all_flop();
  const double softmax_flop = of.counts.softmax.flop / of.all_flop();
  return fmt::format(
      "Of attention's core of {}, fp32, forward, the matrix products have {:.1f} % of the time and {:.1f} % of the "
      "FLOP: their share of time is {} times their share of FLOP. Softmax has {:.1f} % of the time and {:.1f} % of the "
      "FLOP: {} times.",
      of.name(), 100 * products, 100 * products_flop, number(products / products_flop), 100 * softmax,
      100 * softmax_flop, number(softmax / softmax_flop));
}

/// Returns the rates of softmax's own kernels beside both ceilings; empty without a ceiling or the kernels' passes.
std::string kernels_sentence(const StudyMeasurements& all, const Forward& of) {
  const auto passes = softmax_passes(of.records, of.counts.layers);
  const auto rate = softmax_rate(of.records, of.counts);
  const auto roofline = roofline_of(all, "fp32");
  if (!passes || !rate || !roofline) return "";
  const double bytes = *rate / roofline->memory.per_second;
  const double flop = of.counts.softmax.flop / of.time.softmax.value / roofline->compute.per_second;
  return fmt::format(
      "Softmax's kernels of {}, fp32, forward, read the scores of a layer {} times and write them {} times: {} TB/s, "
      "{:.0f} % of the memory ceiling, {} TB/s of {}. Softmax's {} TFLOP/s are {:.1f} % of the compute ceiling, {} "
      "TFLOP/s of {}: softmax is nearer to its {} ceiling.",
      of.name(), count_text(passes->reads), count_text(passes->writes), tera(*rate), 100 * bytes,
      tera(roofline->memory.per_second), roofline->memory.of, tera(of.counts.softmax.flop / of.time.softmax.value),
      100 * flop, tera(roofline->compute.per_second), roofline->compute.of, bytes > flop ? "memory" : "compute");
}

/// Returns the rates of softmax's kernels in percent of the memory ceiling, over the forward passes in float32.
NamedRange softmax_of_ceiling(const StudyMeasurements& all, const Roofline& roofline) {
  NamedRange percent;
  for (const Forward& of : forward_passes(all, "fp32")) {
    const auto rate = softmax_rate(of.records, of.counts);
    if (rate) percent.add(100 * *rate / roofline.memory.per_second, of.name());
  }
  return percent;
}

std::string softmax_limit(const StudyMeasurements& all) {
  const auto roofline = roofline_of(all, "fp32");
  if (!roofline) return "";
  NamedRange intensity;
  std::size_t bound = 0;
  for (const std::string precision : {"fp32", "bf16"}) {
    for (const Forward& of : forward_passes(all, precision)) {
      intensity.add(of.counts.softmax.intensity(), precision);
      bound += roofline->is_memory_bound(of.counts.softmax.intensity()) ? 1 : 0;
    }
  }
  if (intensity.count == 0) return "";
  const std::string text = fmt::format(
      "Softmax has at most {} FLOP/byte, since it reads and writes the scores at least once. Below {}, memory "
      "bandwidth "
      "is the lower ceiling: in {} of {} forward passes.",
      intensity.text(), roofline->ridge_text(), bound, intensity.count);
  const NamedRange percent = softmax_of_ceiling(all, *roofline);
  if (percent.count == 0) return text;
  return text + fmt::format(" Softmax's kernels reach {} of the memory ceiling in fp32.", percent.text("%"));
}

/// Returns in how many forward passes a ceiling is the lower one, and which share of it they reach; empty for none.
std::string reached(const std::string& ceiling, const NamedRange& percent, std::size_t all) {
  if (percent.count == 0) return "";
  return fmt::format("{} is the lower ceiling in {} of {} forward passes, which reach {} of it", ceiling, percent.count,
                     all, percent.text("%"));
}

std::string products_limit(const StudyMeasurements& all, const std::string& precision) {
  const auto roofline = roofline_of(all, precision);
  if (!roofline) return "";
  NamedRange intensity;
  NamedRange of_compute;  // in percent
  NamedRange of_memory;
  for (const Forward& of : forward_passes(all, precision)) {
    const OperationCounts products = of.counts.products();
    intensity.add(products.intensity(), of.name());
    if (roofline->is_memory_bound(products.intensity())) {
      of_memory.add(100 * products.bytes / of.products().value / roofline->memory.per_second, of.name());
    } else {
      of_compute.add(100 * of.flop_rate() / roofline->compute.per_second, of.name());
    }
  }
  if (intensity.count == 0) return "";
  std::vector<std::string> ceilings{reached("compute", of_compute, intensity.count),
                                    reached("memory bandwidth", of_memory, intensity.count)};
  std::erase(ceilings, "");
  return fmt::format("Attention's matrix products in {} have at most {} FLOP/byte. With {}, {}.", precision,
                     intensity.text(), roofline->ridge_text(), join(ceilings, "; "));
}

/// Returns the share of the core's time that its products would take at the compute ceiling. Compute alone does not
/// limit the core if that is less than half.
std::string core_limit(const StudyMeasurements& all, const std::string& precision) {
  const auto compute = compute_ceiling(all, precision);
  const std::vector<Forward> passes = forward_passes(all, precision);
  if (!compute || passes.empty()) return "";
  NamedRange time;
  NamedRange rate;
  NamedRange least;
  for (const Forward& of : passes) {
    time.add(100 * (of.products() / of.core()), of.name());
    rate.add(100 * of.flop_rate() / compute->per_second, of.name());
    least.add(100 * of.counts.products().flop / compute->per_second / of.core().value, of.name());
  }
  return fmt::format(
      "In attention's core with batch {} in {}, matrix products take {} of the time and reach {} of the {} TFLOP/s of "
      "{}. At that rate they would take {} of the time{}.",
      passes.front().id.at("batch"), precision, time.text("%"), rate.text("%"), tera(compute->per_second), compute->of,
      least.text("%"), least.high < 50 ? ": compute alone does not limit the core" : "");
}

}  // namespace

std::vector<std::string> attention_sentences(const StudyMeasurements& all) {
  std::vector<std::string> found;
  const std::vector<Forward> passes = forward_passes(all, "fp32");
  const auto usual = std::ranges::find_if(passes, [](const Forward& of) { return of.id.at("ctx") == "512"; });
  if (usual != passes.end()) {
    found = {times_sentence(all, *usual), shares_sentence(*usual), kernels_sentence(all, *usual)};
  }
  found.push_back(softmax_limit(all));
  for (const std::string precision : {"fp32", "bf16"}) found.push_back(products_limit(all, precision));
  for (const std::string precision : {"fp32", "bf16"}) found.push_back(core_limit(all, precision));
  std::erase(found, "");
  return found;
}

}  // namespace tbench::studies
