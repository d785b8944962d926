#include "studies/roofline/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/step_trace.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {
namespace {

constexpr double kTera = 1e12;
constexpr double kMinCopyBytes = 16.0 * 1024 * 1024;  // smaller copies do not reach the memory's rate

/// Returns the largest rate of reads and writes among a trace's large copies from device to device; 0 without one.
double copy_rate(const StepTrace& trace) {
  double rate = 0;
  for (const PhaseTrace& phase : trace.phases) {
    for (const TracedCopy& copy : phase.copies) {
      const bool is_large = copy.name == "Memcpy DtoD" && copy.bytes >= kMinCopyBytes * copy.count;
      if (is_large && copy.total.value > 0) rate = std::max(rate, 2 * copy.bytes / copy.total.value);
    }
  }
  return rate;
}

}  // namespace

CaseId products_case(const std::string& precision) {
  return {"Ceiling", {{"what", "gemm_" + precision}, {"regime", "sustained"}}};
}

std::optional<Ceiling> compute_ceiling(const StudyMeasurements& all, const std::string& precision) {
  const auto rate = median_of(all.records_of(products_case(precision)), "flop_per_second");
  if (!rate || *rate <= 0) return std::nullopt;
  return Ceiling{.per_second = *rate, .of = "a large product in " + precision};
}

std::optional<Ceiling> memory_ceiling(const StudyMeasurements& all) {
  const auto copy = median_of(all.records_of(copy_case()), "bytes_per_second");
  if (copy && *copy > 0) return Ceiling{.per_second = *copy, .of = "a copy"};
  double rate = 0;
  for (const CaseId& id : all.cases) {
    if (value_or_empty(id, "pass") != "train_step") continue;
    for (const Record* const record : all.records_of(id)) {
      if (record->trace) rate = std::max(rate, copy_rate(*record->trace));
    }
  }
  if (rate <= 0) return std::nullopt;
  return Ceiling{.per_second = rate, .of = "the fastest copy on the device in the traces"};
}

std::string Roofline::ridge_text() const {
  return fmt::format("the ridge point of {} FLOP/byte ({} TFLOP/s of {} over {} TB/s of {})",
                     render::format_number(ridge()), render::format_number(compute.per_second / kTera), compute.of,
                     render::format_number(memory.per_second / kTera), memory.of);
}

std::optional<Roofline> roofline_of(const StudyMeasurements& all, const std::string& precision) {
  auto compute = compute_ceiling(all, precision);
  auto memory = memory_ceiling(all);
  if (!compute || !memory) return std::nullopt;
  return Roofline{.compute = std::move(*compute), .memory = std::move(*memory)};
}

}  // namespace tbench::studies
