// Kernels in bursts, at the full clock, against the same kernels at the power limit, and which implementation wins
// each.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/pivot.hpp"

namespace tbench::studies::regimes {
namespace {

constexpr const char* kRegime = "regime";

/// An implementation's time of a shape in a regime.
struct Entrant {
  std::string impl;
  double ms{};
  double half_width{};  // of the median's 95 % interval, relative to it; 0 if unknown
};

/// Returns the measured implementations of the case's shape and regime, the fastest one first.
std::vector<Entrant> entrants(const StudyMeasurements& all, const CaseId& id) {
  const CaseId shape = without(id, {"impl"});
  std::vector<Entrant> found;
  for (const CaseId& other : all.cases) {
    if (without(other, {"impl"}) != shape) continue;
    const auto ms = median_of(all.records_of(other), "median_ms");
    if (!ms) continue;
    found.push_back({.impl = other.at("impl"), .ms = *ms, .half_width = relative_half_width(all.records_of(other))});
  }
  std::ranges::stable_sort(found, {}, &Entrant::ms);
  return found;
}

/// Returns by how much the case is faster than the fastest other implementation, in percent of the case's time;
/// negative if it is slower. nullopt without another implementation.
std::optional<double> lead_percent(const StudyCase& of) {
  const CaseId& id = of.records.front()->id;
  const std::vector<Entrant> all = entrants(of.all, id);
  if (all.size() < 2) return std::nullopt;
  const auto own = std::ranges::find(all, id.at("impl"), &Entrant::impl);
  if (own == all.end()) return std::nullopt;
  const Entrant& other = own == all.begin() ? all[1] : all.front();
  return 100 * (other.ms / own->ms - 1);
}

/// Returns the winner of the shape, empty if the intervals of the two fastest meet; nullopt without two.
std::optional<std::string> winner(const std::vector<Entrant>& ranked) {
  if (ranked.size() < 2) return std::nullopt;
  const Entrant& first = ranked[0];
  const Entrant& second = ranked[1];
  const bool is_tie = first.ms * (1 + first.half_width) >= second.ms * (1 - second.half_width);
  return is_tie ? "" : first.impl;
}

/// Returns `flash by 3.1 % in bursts`, or `a tie in bursts`.
std::string result_text(const std::vector<Entrant>& ranked, const std::string& regime) {
  const std::string name = winner(ranked).value_or("");
  if (name.empty()) return "a tie " + regime;
  return fmt::format("{} by {} % {}", name, render::format_number(100 * (ranked[1].ms / ranked[0].ms - 1)), regime);
}

/// Returns `Gemm m:8192 precision:bf16` with the keys that vary within the family.
std::string shape_text(const CaseId& shape, const std::vector<std::string>& varying) {
  std::vector<std::string> words{shape.family()};
  for (const auto& [key, value] : shape.parameters()) {
    if (std::ranges::find(varying, key) != varying.end()) words.push_back(fmt::format("{}:{}", key, value));
  }
  return join(words, " ");
}

/// Returns the keys of the family whose values vary over the study's cases.
std::vector<std::string> varying_keys(const StudyMeasurements& all, const std::string& family) {
  std::vector<CaseId> own;
  for (const CaseId& id : all.cases) {
    if (id.family() == family) own.push_back(id);
  }
  return render::pivot_of(own, {}).row_keys;
}

/// Says which shapes have another winner sustained than in bursts.
std::vector<std::string> answers(const StudyMeasurements& all) {
  std::vector<CaseId> seen;
  std::vector<std::string> changes;
  std::int64_t compared = 0;
  for (const CaseId& id : all.cases) {
    const CaseId shape = without(id, {"impl", kRegime});
    if (std::ranges::find(seen, shape) != seen.end()) continue;
    seen.push_back(shape);
    std::vector<CaseId::Parameter> parameters = shape.parameters();
    const std::vector<Entrant> burst = entrants(all, shape);
    parameters.emplace_back(kRegime, "sustained");
    const std::vector<Entrant> sustained = entrants(all, CaseId{shape.family(), std::move(parameters)});
    const auto first = winner(burst), second = winner(sustained);
    if (!first || !second) continue;
    ++compared;
    if (*first == *second) continue;
    changes.push_back(fmt::format("{}: {}, {}", shape_text(shape, varying_keys(all, shape.family())),
                                  result_text(burst, "in bursts"), result_text(sustained, "sustained")));
  }
  if (compared == 0) return {};
  const std::string text = fmt::format("The winner changes from bursts to sustained launches in {} of {}",
                                       changes.size(), counted(compared, "shape"));
  return {changes.empty() ? text + "." : fmt::format("{}: {}.", text, join(changes, "; "))};
}

/// Returns the mean clock while sampling: from the cycle counters where launches follow each other, otherwise from
/// readings.
StudyColumn clock_column() {
  return {.header = "MHz",
          .value = [](const Record& record) -> std::optional<double> {
            const auto clock = record.device ? record.device->mean_sm_clock() : std::nullopt;
            return clock ? std::optional{clock->value / 1e6} : std::nullopt;
          },
          .format = &render::format_thousands};
}

StudyTable table_of(const std::string& family) {
  constexpr double kTera = 1e-12;
  return {.caption =
              "Without a regime: bursts, in which launches have rests between them and run at the highest clock. "
              "Sustained launches follow each other, and the power limit sets the clock. The lead is over the "
              "fastest other implementation of the same shape and regime, in percent of the own time; below 0 the "
              "other is faster",
          .spread = {},
          .columns = {step_time_column(),
                      number_column("TFLOP/s", "flop_per_second", kTera),
                      clock_column(),
                      number_column("W", "power_w"),
                      {.header = "lead %", .value = {}, .format = &render::format_number, .of_case = &lead_percent}},
          .family = family,
          .together_before = "impl"};
}

Axis both_regimes() { return {kRegime, {"burst", "sustained"}, "burst"}; }

/// Shapes whose operands do not fit in the L2 cache, and whose products reach the power limit of an H100.
Study regimes_study() {
  return {.name = "regimes",
          .title = "Kernels in bursts and at the power limit",
          .grids = {{.family = "Attention",
                     .axes = {{"batch", {"8"}},
                              {"heads", {"16"}},
                              {"d_model", {"1024", "2048"}},
                              {"seq_len", {"4096", "16384"}},
                              {"causal", {"1"}},
                              {"pass", {"forward", "backward"}},
                              {"precision", {"bf16"}},
                              {"impl", {"flash", "sdpa_cudnn", "sdpa_flash"}},
                              both_regimes()}},
                    {.family = "Gemm",
                     .axes = {{"m", {"8192"}},
                              {"n", {"8192"}},
                              {"k", {"8192"}},
                              {"precision", {"bf16", "fp8_e4m3"}},
                              {"impl", {"aten", "cublaslt_heuristic", "cublaslt_best"}},
                              both_regimes()}}},
          .tables = {table_of("Attention"), table_of("Gemm")},
          .answer = &answers};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "regimes", .order = 85, .make = &regimes_study});

}  // namespace
}  // namespace tbench::studies::regimes
