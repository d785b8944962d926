// Shows the host's calls of the CUDA API by function, and the copies by direction.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::api_calls {
namespace {

constexpr double kMilli = 1e3;
constexpr double kMicro = 1e6;

std::string name_of(const PhaseTrace& phase) { return phase.phase.empty() ? "(no phase)" : phase.phase; }

/// Returns the host time in a phase's range; 0 without such a range.
double host_time(const StepTrace& trace, const PhaseTrace& phase) {
  const TracedRange* const range = phase_range(trace.ranges, phase.phase);
  return range == nullptr ? 0 : range->host.value;
}

/// Returns a row per phase: all of its calls, and the host's time between them.
std::vector<StudyRow> by_phase(std::span<const Record* const> records) {
  const auto rows_of = [](const StepTrace& trace) {
    std::vector<TracedRow> rows;
    for (const PhaseTrace& phase : trace.phases) {
      if (phase.api_calls <= 0) continue;
      rows.push_back(
          {.names = {name_of(phase)}, .values = {phase.api_calls, phase.api.value, host_time(trace, phase)}});
    }
    return rows;
  };
  std::vector<StudyRow> rows;
  for (const TracedRow& phase : traced_rows(records, rows_of)) {
    const double calls = phase.values[0];
    const double inside = phase.values[1];
    const double host = phase.values[2];
    const auto between = host > inside ? std::optional{kMicro * (host - inside) / calls} : std::nullopt;
    rows.push_back({.names = phase.names,
                    .values = {calls, kMilli * inside, kMicro * inside / calls,
                               host > 0 ? std::optional{kMilli * host} : std::nullopt, between},
                    .detail = {}});
  }
  return rows;
}

std::vector<StudyRow> by_function(std::span<const Record* const> records) {
  const auto rows_of = [](const StepTrace& trace) {
    std::vector<TracedRow> rows;
    for (const PhaseTrace& phase : trace.phases) {
      for (const TracedCall& call : phase.calls) {
        rows.push_back(
            {.names = {name_of(phase), profile::without_version(call.name)}, .values = {call.calls, call.host.value}});
      }
    }
    return rows;
  };
  std::vector<StudyRow> rows;
  for (const TracedRow& call : traced_rows(records, rows_of)) {
    rows.push_back({.names = call.names,
                    .values = {call.values[0], kMilli * call.values[1], kMicro * call.values[1] / call.values[0]},
                    .detail = {}});
  }
  return rows;
}

std::vector<StudyRow> by_direction(std::span<const Record* const> records) {
  const auto rows_of = [](const StepTrace& trace) {
    std::vector<TracedRow> rows;
    for (const PhaseTrace& phase : trace.phases) {
      for (const TracedCopy& copy : phase.copies) {
        rows.push_back({.names = {name_of(phase), copy.name}, .values = {copy.count, copy.bytes, copy.total.value}});
      }
    }
    return rows;
  };
  constexpr double kMebi = 1024.0 * 1024.0;
  constexpr double kGiga = 1e9;
  std::vector<StudyRow> rows;
  for (const TracedRow& copy : traced_rows(records, rows_of)) {
    const double time = copy.values[2];
    rows.push_back({.names = copy.names,
                    .values = {copy.values[0], copy.values[1] / kMebi, kMilli * time,
                               time > 0 ? std::optional{copy.values[1] / kGiga / time} : std::nullopt},
                    .detail = {}});
  }
  return rows;
}

Study api_calls_study() {
  return {.name = "api_calls",
          .title = "The host's calls of the CUDA API, and copies by direction",
          .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .row_tables = {
              {.caption = "By phase of a step, without calls made inside another call. The host's time in the phase is "
                          "that of its range while tracing, on the thread that opened it; what is left of it lies "
                          "between the calls",
               .names = {"phase"},
               .quantities = {{"calls", &count_text},
                              {"in calls ms", &render::format_number},
                              {"mean us", &render::format_number},
                              {"host ms", &render::format_number},
                              {"between calls us", &render::format_number}},
               .detail = {},
               .rows_of = &by_phase},
              {.caption = "By function, of a step. A function of the runtime contains the driver's function that it "
                          "calls",
               .names = {"phase", "function"},
               .quantities = {{"calls", &count_text},
                              {"host ms", &render::format_number},
                              {"mean us", &render::format_number}},
               .detail = {},
               .rows_of = &by_function},
              {.caption = "Copies and fills of a step",
               .names = {"phase", "direction"},
               .quantities = {{"count", &count_text},
                              {"MiB", &render::format_number},
                              {"GPU ms", &render::format_number},
                              {"GB/s", &render::format_number}},
               .detail = {},
               .rows_of = &by_direction}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "api_calls", .order = 184, .make = &api_calls_study});

}  // namespace
}  // namespace tbench::studies::api_calls
