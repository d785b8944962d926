// The rates of cases, and the ceilings that a file measured.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "html/plots/plot_case.hpp"

namespace tbench::html {

/// Returns the achieved rate in TFLOP/s.
[[nodiscard]] std::optional<double> rate(const PlotCase& of);
/// Returns the achieved rate in TB/s.
[[nodiscard]] std::optional<double> stream(const PlotCase& of);
[[nodiscard]] bool is_ceiling(const PlotCase& of);

/// A rate that nobody measured.
inline constexpr double kNoCeiling = std::numeric_limits<double>::infinity();

/// Returns the best rate that a file measured of the ceiling `what`, whatever the other keys of its cases say;
/// kNoCeiling if it measured none.
[[nodiscard]] double ceiling_of(const PlotData& data, std::size_t file, const std::string& what,
                                const ValueOf& value_of);

}  // namespace tbench::html
