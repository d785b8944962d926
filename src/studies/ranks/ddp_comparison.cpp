#include "studies/ranks/ddp_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::studies {
namespace {

/// The numbers of GPUs for which steps are predicted in addition to the measured number. They are usual for one node.
constexpr std::array<std::int64_t, 2> kPredictedGpus{4, 8};
constexpr double kMilli = 1e-3;
constexpr double kMebi = 1024.0 * 1024.0;

/// Returns the layout of the parameters in src/model/implementations/*.cpp.
TensorLayout layout_of(const std::string& impl) {
  return {.joined_qkv = impl != "eager", .joined_gate_up = impl == "fused"};
}

CaseId with_gpus(const CaseId& id, std::int64_t gpus) {
  std::vector<CaseId::Parameter> parameters = id.parameters();
  std::ranges::find(parameters, "gpus", &CaseId::Parameter::first)->second = fmt::format("{}", gpus);
  return {id.family(), std::move(parameters)};
}

std::optional<Seconds> time_of(const StudyMeasurements& all, const CaseId& id) {
  const std::optional<double> milliseconds = median_of(all.records_of(id), "median_ms");
  return milliseconds ? std::optional{Seconds{*milliseconds * kMilli}} : std::nullopt;
}

std::optional<IsolatedStep> isolated_step(std::span<const Record* const> records) {
  const auto step = median_of(records, "median_ms");
  const auto backward = median_of(records, "backward_ms");
  const auto optimizer = median_of(records, "optimizer_ms");
  if (!step || !backward || !optimizer) return std::nullopt;
  return IsolatedStep{.step = {*step * kMilli}, .backward = {*backward * kMilli}, .optimizer = {*optimizer * kMilli}};
}

/// Returns the times of the float32 collectives. They stand for all types, since the time of an operation depends on
/// its bytes and hardly on their type.
CollectiveTimes measured_collectives(const StudyMeasurements& all) {
  CollectiveTimes times;
  for (const CaseId& id : all.cases) {
    if (id.family() != "Collective") continue;
    const std::optional<Seconds> time = time_of(all, id);
    const auto op = parse_enum<CollectiveOp>(id.at("op"));
    if (time && op && id.int_at("gpus") > 1) {
      times.add(*op, id.int_at("gpus"), static_cast<double>(id.int_at("bytes")), *time);
    }
  }
  return times;
}

/// Returns the bytes per gradient element, computed from the bytes that a strategy other than sharded_optimizer passes
/// to its collectives. Returns the bytes of float32 if no such case was measured.
double gradient_bytes(const StudyMeasurements& all, const CaseId& none, std::int64_t parameters) {
  for (const CaseId& id : all.cases) {
    if (id.family() != none.family() || !differ_in_strategy_alone(id, none)) continue;
    if (strategy_of(id) == DdpStrategy::kShardedOptimizer) continue;
    const std::optional<double> bytes = median_of(all.records_of(id), "communication_bytes");
    if (bytes && *bytes > 0) return *bytes / static_cast<double>(parameters);
  }
  return kParameterBytes;
}

/// Returns the measured overlap cost with products of the same precision, for the communication size nearest to a
/// bucket's size.
std::optional<double> cost_near(const StudyMeasurements& all, const CaseId& none, double bucket_bytes) {
  std::optional<double> cost;
  double nearest = std::numeric_limits<double>::infinity();
  for (const CaseId& id : all.cases) {
    const bool fits =
        id.family() == "Overlap" && id.at("gpus") == none.at("gpus") && id.at("precision") == none.at("precision");
    const auto measured = fits ? measured_overlap_cost(all.records_of(id)) : std::nullopt;
    if (!measured) continue;
    const double distance = std::abs(std::log(static_cast<double>(id.int_at("bytes")) / bucket_bytes));
    if (distance < nearest) cost = measured;
    nearest = std::min(nearest, distance);
  }
  return cost;
}

bool is_host_bound(std::span<const Record* const> records) {
  return std::ranges::any_of(records, [](const Record* of) { return of->timing && tbench::is_host_bound(*of); });
}

std::vector<std::int64_t> gpus_from(std::int64_t measured) {
  std::vector<std::int64_t> gpus{measured};
  std::ranges::copy_if(kPredictedGpus, std::back_inserter(gpus), [&](std::int64_t more) { return more > measured; });
  return gpus;
}

/// Returns one operation of the strategy, to look up the measured numbers of GPUs. All operations of a run have the
/// same numbers.
CollectiveOp operation_of(DdpStrategy strategy) {
  return strategy == DdpStrategy::kShardedOptimizer ? CollectiveOp::kReduceScatter : CollectiveOp::kAllReduce;
}

std::string in_words(const std::string& what, const std::vector<const PredictedStep*>& steps) {
  std::vector<double> errors;
  for (const PredictedStep* const step : steps) errors.push_back(std::abs(*step->error_percent()));
  const auto largest = static_cast<std::size_t>(std::ranges::max_element(errors) - errors.begin());
  return fmt::format("{}, of {}: the median error is {:.1f} %, the largest {:.1f} % ({}).", what,
                     counted_in(steps, "step"), stats::median(errors), errors[largest], steps[largest]->id.name());
}

}  // namespace

bool differ_in_strategy_alone(const CaseId& one, const CaseId& other) {
  return without(one, {"strategy", "bucket_mib"}) == without(other, {"strategy", "bucket_mib"});
}

std::optional<DdpStrategy> strategy_of(const CaseId& id) { return parse_enum<DdpStrategy>(id.at("strategy")); }

std::optional<double> measured_overlap_cost(std::span<const Record* const> records) {
  const auto products = median_of(records, "products_ms"), exchange = median_of(records, "exchange_ms");
  const auto both = median_of(records, "both_ms");
  if (!products || !exchange || !both) return std::nullopt;
  return overlap_cost({*products * kMilli}, {*exchange * kMilli}, {*both * kMilli});
}

std::optional<double> PredictedStep::error_percent() const {
  return measured ? std::optional{100 * (prediction.step / *measured - 1)} : std::nullopt;
}

std::vector<PredictedStep> predicted_steps(const StudyCase& none) {
  const CaseId& id = none.records.front()->id;
  const std::optional<ModelSize> size = model_size_of(id, none.all.sizes);
  const std::optional<IsolatedStep> isolated = isolated_step(none.records);
  if (!size || !isolated) return {};
  const CollectiveTimes times = measured_collectives(none.all);
  const std::vector<GradientTensor> gradients =
      gradient_order(*size, id.int_at("ctx"), id.int_at("batch"), layout_of(id.at("impl")));
  const double element = gradient_bytes(none.all, id, parameter_count(*size));
  const std::optional<double> copy = median_of(none.all.records_of(copy_case()), "bytes_per_second");
  std::vector<PredictedStep> steps;
  for (const CaseId& of : none.all.cases) {
    const std::optional<DdpStrategy> strategy = differ_in_strategy_alone(of, id) ? strategy_of(of) : std::nullopt;
    if (!strategy) continue;
    const double bucket = of.find("bucket_mib") == nullptr ? 0 : kMebi * static_cast<double>(of.int_at("bucket_mib"));
    const std::optional<double> cost = cost_near(none.all, id, bucket);
    for (const std::int64_t gpus : gpus_from(id.int_at("gpus"))) {
      const auto prediction = predict_step(*isolated,
                                           {.strategy = *strategy,
                                            .gpus = gpus,
                                            .gradients = gradients,
                                            .gradient_bytes = element,
                                            .bucket_bytes = bucket,
                                            .copy_per_second = copy,
                                            .overlap_cost = cost},
                                           times);
      if (!prediction) continue;
      const CaseId measured = with_gpus(of, gpus);
      steps.push_back({.id = measured,
                       .gpus = gpus,
                       .is_extrapolated = times.source(operation_of(*strategy), gpus) != gpus,
                       .isolated = isolated->step,
                       .prediction = *prediction,
                       .measured = time_of(none.all, measured),
                       .is_host_bound = is_host_bound(none.records) || is_host_bound(none.all.records_of(measured))});
    }
  }
  return steps;
}

std::vector<std::string> errors_in_words(const StudyMeasurements& all) {
  std::vector<PredictedStep> steps;
  for (const CaseId& id : all.cases) {
    if (id.find("strategy") == nullptr || strategy_of(id) != DdpStrategy::kNone) continue;
    std::vector<const Record*> timed;
    std::ranges::copy_if(all.records_of(id), std::back_inserter(timed),
                         [](const Record* record) { return record->timing.has_value(); });
    if (timed.empty()) continue;
    std::ranges::move(predicted_steps({.records = timed, .all = all}), std::back_inserter(steps));
  }
  std::vector<std::string> sentences;
  for (const bool is_extrapolated : {false, true}) {
    std::vector<const PredictedStep*> measured;
    for (const PredictedStep& step : steps) {
      if (step.measured && !step.is_host_bound && step.is_extrapolated == is_extrapolated) measured.push_back(&step);
    }
    if (measured.empty()) continue;
    sentences.push_back(in_words(
        is_extrapolated ? "Predicted with extrapolated collectives" : "Predicted with measured collectives", measured));
  }
  const auto left_out = std::ranges::count_if(steps, [](const auto& s) { return s.measured && s.is_host_bound; });
  if (left_out > 0) {
    sentences.push_back(fmt::format("{} that the host limits {} left out of the errors.",
                                    counted(left_out, "measured step"), agreeing(left_out, "is", "are")));
  }
  return sentences;
}

}  // namespace tbench::studies
