// The quantities that a headline has of a step.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "studies/side_by_side/headline_steps.hpp"

namespace tbench::studies {

// The quantities of a step with a time. A quantity is absent if the record does not have it.

[[nodiscard]] std::optional<double> step_ms(const HeadlineStep& step);
/// Returns device_time() in milliseconds.
[[nodiscard]] std::optional<double> gpu_ms(const HeadlineStep& step);
[[nodiscard]] std::optional<double> tokens_per_second(const HeadlineStep& step);
/// Returns the energy per token: NVML's energy if the record has it, otherwise the mean power times the step's median.
[[nodiscard]] std::optional<double> millijoules_per_token(const HeadlineStep& step);
/// Returns model_flop() per second over the datasheet's dense rate at the boost clock, in percent.
[[nodiscard]] std::optional<double> mfu_percent(const HeadlineStep& step);
/// Returns the peak of the allocator's memory.
[[nodiscard]] std::optional<double> peak_gibibytes(const HeadlineStep& step);
/// Returns the price of 10^9 tokens.
[[nodiscard]] std::optional<double> price_of_billion(const HeadlineStep& step);

/// Header of the column of price_of_billion().
inline constexpr const char* kPriceHeader = "price of 1e9 tokens";

struct HeadlineColumn {
  const char* header;  // with the unit
  std::optional<double> (*value)(const HeadlineStep&);
  std::string (*format)(double);
};

/// Returns the columns of these quantities, in the order of the table.
[[nodiscard]] std::span<const HeadlineColumn> headline_columns();

}  // namespace tbench::studies
