// The sentences of a headline that compare a GPU model with the first one: speed, energy, and what an hour is worth.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "studies/side_by_side/headline_gpus.hpp"
#include "studies/side_by_side/headline_steps.hpp"

namespace tbench::studies {

/// Returns the sentences on the steps of each GPU model against the first one.
[[nodiscard]] std::vector<std::string> step_comparisons(const HeadlineSteps& steps, std::span<const HeadlineGpu> gpus);

/// Returns the sentence that values an hour of one GPU model in hours of another: `For attention, an hour of H200 is
/// worth up to 1.13 hours of H100`. With one price, the price at which both cost the same follows; with both prices,
/// the difference follows.
/// @param speed    speed of `gpu` divided by the speed of `base`
/// @param work     `For attention`
/// @param product  what costs more or less, `the same attention`
[[nodiscard]] std::string worth_sentence(double speed, const HeadlineGpu& gpu, const HeadlineGpu& base,
                                         const std::string& work, const std::string& product);

}  // namespace tbench::studies
