// Predicted times of data-parallel steps, next to the measured times.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "studies/ranks/ddp_prediction.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// Whether the cases are of one model, implementation and number of GPUs: all but `strategy` and `bucket_mib` agree.
[[nodiscard]] bool differ_in_strategy_alone(const CaseId& one, const CaseId& other);
/// Returns nullopt for a strategy without a prediction.
[[nodiscard]] std::optional<DdpStrategy> strategy_of(const CaseId& id);

/// Returns the overlap cost of a case of Overlap, or nullopt if its records have no phases.
[[nodiscard]] std::optional<double> measured_overlap_cost(std::span<const Record* const> records);

struct PredictedStep {
  CaseId id;  // of the case that would measure it
  std::int64_t gpus{};
  bool is_extrapolated{};  // beyond the numbers of GPUs whose collectives were measured
  Seconds isolated;        // step of one GPU by itself
  DdpPrediction prediction;
  std::optional<Seconds> measured;  // the median of its own records
  bool is_host_bound{};             // the host limits the isolated step or the measured one: no prediction knows of it

  /// The error of the prediction, in percent of the measured time.
  [[nodiscard]] std::optional<double> error_percent() const;
};

/// Every strategy, with the GPUs of the isolated step's run and with kPredictedGpus more of them.
/// @param none  a case of `strategy:none`
/// @return      empty where its records have no phases, or nothing was measured of the collectives that it takes
[[nodiscard]] std::vector<PredictedStep> predicted_steps(const StudyCase& none);

/// How far predictions are from what was measured, of all that the host does not limit: the median and the largest
/// error. Apart those whose collectives are extrapolated. Empty where nothing was measured.
[[nodiscard]] std::vector<std::string> errors_in_words(const StudyMeasurements& all);

}  // namespace tbench::studies
