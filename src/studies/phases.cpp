// Breaks the time of a step down by phase, with the spread over the steps.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::phases {
namespace {

std::optional<double> milliseconds(std::optional<Seconds> time) {
  return time ? std::optional{to_milliseconds(*time)} : std::nullopt;
}

/// Returns the time of a phase's operations in the traced steps, or nullopt without a trace of the phase.
std::optional<double> gpu_milliseconds(std::span<const TracedPhase> traced, const std::string& phase) {
  const TracedPhase* const found = phase_named(traced, phase);
  return found == nullptr ? std::nullopt : std::optional{to_milliseconds(found->total)};
}

/// Returns a row per phase of the case's first record. A step's phases are consecutive, so that their medians can come
/// from different steps.
std::vector<StudyRow> by_phase(std::span<const Record* const> records) {
  const Record& record = *records.front();
  if (!record.timing || record.timing->phases.empty()) return {};
  const Seconds forward = record.timing->phases.front().median;
  const std::vector<TracedPhase> traced = traced_phases(records);
  std::vector<StudyRow> rows;
  for (const PhaseTime& phase : record.timing->phases) {
    rows.push_back({.names = {phase.name},
                    .values = {milliseconds(phase.mean), milliseconds(phase.standard_deviation),
                               to_milliseconds(phase.median), percent_of(phase.median, record.timing->median),
                               phase.median / forward, gpu_milliseconds(traced, phase.name)},
                    .detail = {}});
  }
  return rows;
}

/// Returns the ratio of the medians of backward and forward, or nullopt if a phase is missing.
std::optional<double> backward_over_forward(const StudyMeasurements& all, const CaseId& id) {
  const std::span<const Record* const> records = all.records_of(id);
  if (records.empty() || !records.front()->timing) return std::nullopt;
  const std::vector<PhaseTime>& phases = records.front()->timing->phases;
  const auto forward = std::ranges::find(phases, "forward", &PhaseTime::name);
  const auto backward = std::ranges::find(phases, "backward", &PhaseTime::name);
  if (forward == phases.end() || backward == phases.end() || forward->median.value <= 0) return std::nullopt;
  return backward->median / forward->median;
}

/// Returns the sizes whose step the host limits among the cases with all the parameters.
std::vector<std::string> limited_sizes(const StudyMeasurements& all, const std::vector<CaseId::Parameter>& parameters) {
  std::vector<std::string> sizes;
  for (const CaseId& id : all.cases) {
    if (has_all(id, parameters) && is_limited_by_host(all, id)) sizes.push_back(id.at("size"));
  }
  return sizes;
}

/// Returns a sentence for each precision in which a training step with 512 tokens was measured that the host does not
/// limit. The phases of the other steps last as long as the host takes to launch them.
std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::vector<std::string> found;
  for (const std::string precision : {"fp32", "bf16"}) {
    const std::vector<CaseId::Parameter> steps{{"pass", "train_step"}, {"ctx", "512"}, {"precision", precision}};
    const NamedRange ratios = range_over_sizes(all, steps, [&](const CaseId& id) {
      return is_limited_by_host(all, id) ? std::nullopt : backward_over_forward(all, id);
    });
    if (ratios.count == 0) continue;
    const std::vector<std::string> limited = limited_sizes(all, steps);
    found.push_back(fmt::format(
        "In a training step with 512 tokens in {}, backward takes {} times as long as forward{}.", precision,
        ratios.text(), limited.empty() ? "" : fmt::format(" (without {}: the host limits it)", join(limited, ", "))));
  }
  return found;
}

Study phases_study() {
  return {.name = "phases",
          .title = "Time of each phase of a step",
          .grids = {model_grid({"128", "256", "512", "1024"}, {"forward_backward", "train_step"}, {"fp32", "bf16"})},
          .row_tables = {{.caption = "Mean and standard deviation over the steps, by events at the phases' boundaries; "
                                     "percent of the median step; relative to forward. GPU ms: the operations of the "
                                     "phase in the traced steps. Files before version 10 have the median alone",
                          .names = {"phase"},
                          .quantities = {{"mean ms", &render::format_number},
                                         {"std ms", &render::format_number},
                                         {"median ms", &render::format_number},
                                         {"% of step", &one_digit},
                                         {"/ forward", &render::format_number},
                                         {"GPU ms", &render::format_number}},
                          .detail = {},
                          .rows_of = &by_phase}},
          .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "phases", .order = 55, .make = &phases_study});

}  // namespace
}  // namespace tbench::studies::phases
