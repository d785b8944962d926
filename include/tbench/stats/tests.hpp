// Statistics of comparing two builds or two GPUs, as pure functions. Values are logarithms of times, one per replicate
// (a fresh process), so that differences are relative. compare/comparison.hpp says what they mean for a case.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tbench/stats/descriptive.hpp"

namespace tbench::stats {

/// The value that Student's t with `degrees_of_freedom` exceeds with probability `tail`.
/// @param tail  above 0, below 1
/// @throws      std::invalid_argument  for another tail, or degrees of freedom that are not above 0
[[nodiscard]] double t_upper_quantile(double tail, double degrees_of_freedom);

/// Probability that |Student's t| is at least |t|.
/// @throws  std::invalid_argument  for degrees of freedom that are not above 0
[[nodiscard]] double t_two_sided_p(double t, double degrees_of_freedom);

/// Variance inside two groups, with R_a + R_b - 2 degrees of freedom: 0 and 0 for two groups of one value.
struct PooledVariance {
  double variance{};
  double degrees_of_freedom{};
};
/// @throws  std::invalid_argument  if a group is empty
[[nodiscard]] PooledVariance pooled_variance(std::span<const double> a, std::span<const double> b);

/// A prior for a case's standard deviation between processes.
struct DispersionPrior {
  double standard_deviation{};  // of ln(time), over earlier runs of one build each
  double degrees_of_freedom{};  // d0: as much as the prior counts beside what is measured; prior_degrees_of_freedom
};

/// Estimates d0 from how much a case's variances differ from run to run, by the moments of their logarithms: with
/// variances that are s0^2 times F(d, d0) distributed, var(ln s^2) = trigamma(d / 2) + trigamma(d0 / 2).
/// @param variances  of each case one per run, with their degrees of freedom (above 0)
/// @return           0 where fewer than 10 differences between runs tell of it; at most kMaxPriorFreedom
/// @see              Smyth, as moderated_t_test, section 6.2
[[nodiscard]] double prior_degrees_of_freedom(std::span<const std::vector<PooledVariance>> variances);
inline constexpr double kMaxPriorFreedom = 50;

/// A prior is dropped that a variance as large as the measured one contradicts at this level.
inline constexpr double kPriorLevel = 0.01;

/// Whether a variance is too large for the prior: P(F(d_f, d0) >= s^2 / s0^2) <= kPriorLevel. False without degrees of
/// freedom on either side.
[[nodiscard]] bool rejects_prior(const DispersionPrior& prior, const PooledVariance& measured);

/// No measurement repeats better than this from process to process: a smaller spread of a few replicates is luck.
inline constexpr double kDispersionFloor = 0.001;

/// Two-sample t test with a variance that leans on what is known.
struct ModeratedTest {
  double difference{};          // mean(next) - mean(base)
  double standard_deviation{};  // between processes: moderated, at least kDispersionFloor
  double standard_error{};      // of the difference
  double degrees_of_freedom{};
  double p_value{};       // two-sided
  Interval interval;      // of the difference, 95 %
  bool prior_rejected{};  // what was measured spreads too much for it: it does not count
};

/// s~^2 = (d0 s0^2 + d_f s^2) / (d0 + d_f), the interval difference +- t(.975, d0 + d_f) s~ sqrt(1/R_b + 1/R_n).
/// A prior counts unless rejects_prior(). With one value in each group it stands alone: nu is its d0.
/// @return  nothing without any degree of freedom: one value in each group and no prior
/// @throws  std::invalid_argument  if a group is empty
/// @see     Smyth, Linear models and empirical Bayes methods, Stat. Appl. Genet. Mol. Biol. 3 (2004), section 4
[[nodiscard]] std::optional<ModeratedTest> moderated_t_test(std::span<const double> base, std::span<const double> next,
                                                            std::optional<DispersionPrior> prior = std::nullopt);

/// Adjusted p values in the order given: those at most q are rejected at a false discovery rate of q.
/// @throws  std::invalid_argument  for a value outside 0..1
/// @see     Benjamini and Hochberg, J. R. Statist. Soc. B 57 (1995)
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p_values);

/// The smallest true difference of logarithms that is found in 8 of 10 comparisons:
/// (t(1 - q / 2m, nu) + t(.8, nu)) * standard error.
/// @param test                 gives standard error and nu
/// @param false_discovery_rate q, above 0 and below 1
/// @param comparisons          m, that are corrected for together, at least 1
/// @throws                     std::invalid_argument  for another rate or no comparisons
[[nodiscard]] double smallest_detectable_difference(const ModeratedTest& test, double false_discovery_rate,
                                                    std::size_t comparisons);

/// exp(mean(ln values)).
/// @param values  not empty, above 0
/// @throws        std::invalid_argument  otherwise
[[nodiscard]] double geometric_mean(std::span<const double> values);

}  // namespace tbench::stats
