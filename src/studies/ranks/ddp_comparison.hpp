// Compares predicted times of data-parallel steps with the measured times.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "studies/ranks/ddp_prediction.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// Returns whether the cases agree in all parameters except `strategy` and `bucket_mib`.
[[nodiscard]] bool differ_in_strategy_alone(const CaseId& one, const CaseId& other);
/// Returns nullopt for a strategy without a prediction.
[[nodiscard]] std::optional<DdpStrategy> strategy_of(const CaseId& id);

/// Returns the overlap cost of a case of Overlap, or nullopt if its records have no phases.
[[nodiscard]] std::optional<double> measured_overlap_cost(std::span<const Record* const> records);

struct PredictedStep {
  CaseId id;  // the case that measures this step
  std::int64_t gpus{};
  bool is_extrapolated{};  // beyond the numbers of GPUs whose collectives were measured
  Seconds isolated;        // time of one GPU's step by itself
  DdpPrediction prediction;
  std::optional<Seconds> measured;  // median of the case's own records
  bool is_host_bound{};             // the host limits the isolated or the measured step, which no prediction considers

  /// Returns the error of the prediction in percent of the measured time, or nullopt if it was not measured.
  [[nodiscard]] std::optional<double> error_percent() const;
};

/// Predicts the step of every strategy, for the number of GPUs of the isolated step's run and for the larger numbers in
/// kPredictedGpus.
/// @param none  a case with `strategy:none`
/// @return      empty if the records have no phases, or if the required collectives were not measured
[[nodiscard]] std::vector<PredictedStep> predicted_steps(const StudyCase& none);

/// Returns sentences on the errors of all predictions that the host does not limit: the median and the largest error.
/// Predictions with extrapolated collectives have a separate sentence. Returns none if no step was measured.
[[nodiscard]] std::vector<std::string> errors_in_words(const StudyMeasurements& all);

}  // namespace tbench::studies
