// Measures how a training step scales over GPUs with each strategy of gradient synchronization, the cost of the
// communication, and the error of its prediction.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/studies.hpp"
#include "studies/ranks/ddp_comparison.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::ddp {
namespace {

constexpr const char* kFamily = "DataParallel";
constexpr double kMebi = 1024.0 * 1024.0;
constexpr double kMomentBytes = 8;  // bytes per parameter of AdamW's two moments in float32

const CaseId& id_of(const StudyCase& of) { return of.records.front()->id; }

/// Returns a counter of the case that differs from `of` only in its strategy. If both strategies have buckets, their
/// sizes are equal; otherwise the smallest value over all bucket sizes is returned.
std::optional<double> counter_of(const StudyCase& of, DdpStrategy strategy, const std::string& counter) {
  const std::string* const bucket = id_of(of).find("bucket_mib");
  std::optional<double> least;
  for (const CaseId& id : of.all.cases) {
    if (!differ_in_strategy_alone(id, id_of(of)) || strategy_of(id) != strategy) continue;
    const std::string* const own = id.find("bucket_mib");
    if (bucket != nullptr && own != nullptr && *own != *bucket) continue;
    const std::optional<double> value = median_of(of.all.records_of(id), counter);
    if (value && (!least || *value < *least)) least = value;
  }
  return least;
}

std::optional<double> efficiency_percent(const StudyCase& of) {
  const auto alone = counter_of(of, DdpStrategy::kNone, "median_ms");
  const auto own = median_of(of.records, "median_ms");
  return alone && own ? std::optional{100 * *alone / *own} : std::nullopt;
}

std::optional<double> over_reducer(const StudyCase& of) {
  const auto reducer = counter_of(of, DdpStrategy::kReducer, "median_ms");
  const auto own = median_of(of.records, "median_ms");
  return reducer && own ? std::optional{*own / *reducer} : std::nullopt;
}

std::optional<double> isolated_peak(const StudyCase& of) {
  const auto peak = counter_of(of, DdpStrategy::kNone, "peak_allocated_bytes");
  return peak ? std::optional{*peak / kMebi} : std::nullopt;
}

std::optional<double> saved(const StudyCase& of) {
  const auto alone = isolated_peak(of);
  const auto own = median_of(of.records, "peak_allocated_bytes");
  return alone && own ? std::optional{*alone - *own / kMebi} : std::nullopt;
}

/// Returns the bytes that sharding the optimizer state among n GPUs leaves out on each: (1 - 1 / n) of both moments.
std::optional<double> saved_by_count(const StudyCase& of) {
  const std::optional<ModelSize> size = model_size_of(id_of(of), of.all.sizes);
  if (!size) return std::nullopt;
  const double others = 1 - 1 / static_cast<double>(id_of(of).int_at("gpus"));
  return kMomentBytes * static_cast<double>(parameter_count(*size)) * others / kMebi;
}

StudyColumn of_case(std::string header, std::optional<double> (*value)(const StudyCase&),
                    std::string (*format)(double)) {
  return {.header = std::move(header), .value = {}, .format = format, .of_case = value};
}

std::optional<double> exposed_percent(const Record& record) {
  const auto share = ratio_column("", "exposed_communication_ms", "communication_ms").value(record);
  return share ? std::optional{100 * *share} : std::nullopt;
}

std::vector<StudyRow> prediction_rows(const StudyCase& none) {
  std::vector<StudyRow> rows;
  for (const PredictedStep& step : predicted_steps(none)) {
    const std::string* const bucket = step.id.find("bucket_mib");
    const std::string from = step.is_extrapolated ? "extrapolated" : "measured";
    rows.push_back({.names = {step.id.at("strategy"), bucket == nullptr ? "" : *bucket, step.id.at("gpus")},
                    .values = {to_milliseconds(step.prediction.step),
                               step.measured ? std::optional{to_milliseconds(*step.measured)} : std::nullopt,
                               step.error_percent(), to_milliseconds(step.prediction.communication),
                               to_milliseconds(step.prediction.exposed), 100 * (step.isolated / step.prediction.step)},
                    .detail = (step.measured ? "" : "prediction alone; ") + from +
                              (step.is_host_bound ? "; the host limits it" : "")});
  }
  return rows;
}

/// Returns the grid of the given strategies. Only strategies with buckets have the key `bucket_mib` in their names.
FamilyGrid strategies(std::vector<std::string> names, bool has_buckets) {
  FamilyGrid grid{.family = kFamily,
                  .axes = {{"size", {"small", "xl", "2.7B"}},
                           {"ctx", {"512"}},
                           {"batch", {"4"}},
                           {"precision", {"bf16"}},
                           {"impl", {"sdpa"}},
                           {"gpus", {}},
                           {"strategy", std::move(names)}}};
  if (has_buckets) grid.axes.push_back({"bucket_mib", {"1", "25", "100"}});  // PyTorch's default is 25
  grid.axes.push_back({"exec", {"stream"}, "stream"});
  return grid;
}

StudyTable steps_table() {
  return {.caption =
              "A step of each GPU's own batch. Efficiency: the time of strategy:none, every GPU by itself, over the "
              "case's; reducer: c10d's with buckets of as many MiB, its fastest where the case has none. "
              "Communication and what of it is exposed, nothing running beside it, are of a run with --tb_trace=on; "
              "memory is rank 0's",
          .spread = {},
          .columns = {number_column("step ms", "median_ms"),
                      whole_column("tokens/s of all", "tokens_per_second"),
                      of_case("efficiency %", efficiency_percent, &render::format_number),
                      of_case("time / reducer's", over_reducer, &render::format_number),
                      number_column("communication ms", "communication_ms"),
                      number_column("exposed ms", "exposed_communication_ms"),
                      {.header = "exposed %", .value = exposed_percent, .format = &render::format_number},
                      mebibytes_column("peak MiB", "peak_allocated_bytes")},
          .family = kFamily,
          .together_before = "strategy"};
}

StudyTable sharding_table() {
  return {.caption =
              "What sharding the optimizer's state saves on each rank, beside (1 - 1 / gpus) of AdamW's two float32 "
              "moments. The rest is buffers",
          .spread = {},
          .columns = {mebibytes_column("peak MiB", "peak_allocated_bytes"),
                      of_case("none's MiB", isolated_peak, &render::format_thousands),
                      of_case("saved MiB", saved, &render::format_thousands),
                      of_case("by the count MiB", saved_by_count, &render::format_thousands)},
          .only = {{"strategy", "sharded_optimizer"}},
          .family = kFamily};
}

std::optional<double> cost_of_overlap(const StudyCase& of) { return measured_overlap_cost(of.records); }

StudyTable overlap_table() {
  return {
      .caption =
          "An all-reduce of a bucket's bytes beside matrix products. Cost: what both at once take beyond the longer "
          "one, in parts of the shorter one's time: 0 where hiding an exchange is free, 1 where it gains nothing",
      .spread = {},
      .columns = {number_column("products us", "products_ms", 1e3), number_column("exchange us", "exchange_ms", 1e3),
                  number_column("both us", "both_ms", 1e3), of_case("cost", cost_of_overlap, &render::format_number)},
      .family = "Overlap"};
}

StudyRowTable prediction_table() {
  return {
      .caption =
          "The step predicted from one GPU's, strategy:none, the collectives and the cost of overlap above. Error: of "
          "the prediction, in percent of what was measured. Extrapolated: with the collectives of fewer GPUs, at "
          "the same bus bandwidth (src/ranks/README.md has the formulas and what they leave out)",
      .names = {"strategy", "bucket_mib", "for gpus"},
      .quantities = {{"predicted ms", &render::format_number},
                     {"measured ms", &render::format_number},
                     {"error %", &render::format_number},
                     {"communication ms", &render::format_number},
                     {"exposed ms", &render::format_number},
                     {"efficiency %", &render::format_number}},
      .detail = "collectives",
      .rows_of = &prediction_rows,
      .only = {{"strategy", "none"}},
      .family = kFamily};
}

Study ddp_study() {
  return {.name = "ddp",
          .title = "A data-parallel training step by strategy, and as it is predicted",
          .grids = {strategies({"none", "naive", "flat"}, false),
                    strategies({"bucketed", "overlapped", "reducer"}, true),
                    strategies({"sharded_optimizer"}, false),
                    collective_grid({"all_reduce", "reduce_scatter", "all_gather"}, {"fp32"}),
                    {.family = "Overlap",
                     .axes = {{"bytes", {"1048576", "26214400", "104857600"}}, {"precision", {"bf16"}}, {"gpus", {}}}}},
          .tables = {steps_table(),
                     {.caption = "Step ms by strategy",
                      .spread = {"strategy", "bucket_mib"},
                      .columns = {number_column("ms", "median_ms")},
                      .has_bars = true,
                      .family = kFamily},
                     sharding_table(),
                     {.caption = "Median time us by bytes and op, of the collectives that predictions are made of",
                      .spread = {"op"},
                      .columns = {number_column("us", "median_ms", 1e3)},
                      .family = "Collective"},
                     overlap_table()},
          .row_tables = {prediction_table()},
          .beside = {copy_case()},
          .conclude = &errors_in_words};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "ddp", .order = 240, .make = &ddp_study});

}  // namespace
}  // namespace tbench::studies::ddp
