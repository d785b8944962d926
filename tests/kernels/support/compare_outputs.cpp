#include "support/compare_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbench::kernels {
namespace {

std::string index_text(const std::array<std::int64_t, 4>& extents, std::size_t flat) {
  auto rest = static_cast<std::int64_t>(flat);
  std::array<std::int64_t, 4> index{};
  for (std::size_t i = 4; i-- > 0;) {
    index.at(i) = rest % extents.at(i);
    rest /= extents.at(i);
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

/// Returns the relative excess that a root mean square over `rows` independent rows may have over its expectation: 7 of
/// its standard deviations, which are below 1 / sqrt(rows).
double sampling_margin(std::int64_t rows) { return 7 / std::sqrt(static_cast<double>(rows)); }

}  // namespace

Comparison compare_outputs(std::string_view name, const std::array<std::int64_t, 4>& extents,
                           std::span<const double> actual, std::span<const Uncertain> expected,
                           const Allowance& allowance) {
  const std::int64_t size = extents[0] * extents[1] * extents[2] * extents[3];
  if (std::ssize(actual) != size || std::ssize(expected) != size) {
    return {.failure =
                fmt::format("{}: {} elements compared with {} of {}", name, actual.size(), expected.size(), size)};
  }
  Comparison result;
  double squares = 0;
  std::int64_t bad = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double deviation = std::sqrt(expected[i].variance);
    const double allowed = allowance.deviations * deviation + allowance.relative * std::abs(expected[i].value);
    const double error = std::abs(actual[i] - expected[i].value);
    if (!(error <= allowed) && ++bad == 1) {
      result.failure = fmt::format("{}{} is {:.9g}, not {:.9g} +- {:.3g}", name, index_text(extents, i), actual[i],
                                   expected[i].value, allowed);
    }
    if (allowed > 0) result.worst = std::max(result.worst, error / allowed);
    if (deviation > 0) squares += (error / deviation) * (error / deviation);
  }
  if (bad > 0)
    result.failure +=
        fmt::format("; {} of {} elements are off, the worst by {:.3g} times that", bad, size, result.worst);
  const double limit = allowance.root_mean_square + sampling_margin(extents[0] * extents[1] * extents[2]);
  result.root_mean_square = std::sqrt(squares / static_cast<double>(size)) / limit;
  if (bad == 0 && !(result.root_mean_square <= 1)) {
    result.failure = fmt::format("{}: errors are {:.3g} expected deviations in root mean square, more than {:.3g}",
                                 name, result.root_mean_square * limit, limit);
  }
  return result;
}

}  // namespace tbench::kernels
