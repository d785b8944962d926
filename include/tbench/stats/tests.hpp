// Statistics to compare two builds or two GPUs, as pure functions. Values are logarithms of times, one per replicate
// (a fresh process), so that differences are relative. compare/comparison.hpp describes their meaning for a case.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tbench/stats/descriptive.hpp"

namespace tbench::stats {

/// Returns the value that Student's t with `degrees_of_freedom` exceeds with probability `tail`.
/// @param tail  probability, above 0, below 1
/// @throws      std::invalid_argument  if `tail` is outside its range or `degrees_of_freedom` is not above 0
[[nodiscard]] double t_upper_quantile(double tail, double degrees_of_freedom);

/// Returns the probability that |Student's t| is at least |t|.
/// @throws  std::invalid_argument  for degrees of freedom that are not above 0
[[nodiscard]] double t_two_sided_p(double t, double degrees_of_freedom);

/// The variance within two groups, with R_a + R_b - 2 degrees of freedom. Both are 0 if each group has a single value.
struct PooledVariance {
  double variance{};
  double degrees_of_freedom{};
};
/// Computes the pooled variance of two groups.
/// @throws  std::invalid_argument  if a group is empty
[[nodiscard]] PooledVariance pooled_variance(std::span<const double> a, std::span<const double> b);

/// A prior for a case's standard deviation between processes.
struct DispersionPrior {
  double standard_deviation{};  // of ln(time) inside earlier runs, each of one build
  double degrees_of_freedom{};  // d0: the weight of the prior relative to the measurement; prior_degrees_of_freedom()
};

/// Estimates d0 from how much a case's variance differs between runs, by matching moments of ln(variance): if a
/// variance is distributed as s0^2 F(d, d0), then var(ln s^2) = trigamma(d / 2) + trigamma(d0 / 2).
/// @param variances  one list per case, with one variance per run and its degrees of freedom (above 0)
/// @return           d0, at most kMaxPriorFreedom; 0 if there are fewer than 10 differences between runs
/// @see              Smyth (see moderated_t_test()), section 6.2
[[nodiscard]] double prior_degrees_of_freedom(std::span<const std::vector<PooledVariance>> variances);
inline constexpr double kMaxPriorFreedom = 50;

/// Significance level at which a measured variance contradicts a prior, which is then dropped.
inline constexpr double kPriorLevel = 0.01;

/// Returns whether a variance is too large for the prior: P(F(d_f, d0) >= s^2 / s0^2) <= kPriorLevel. Returns false if
/// either has no degrees of freedom.
[[nodiscard]] bool rejects_prior(const DispersionPrior& prior, const PooledVariance& measured);

/// The least standard deviation of ln(time) between processes. A smaller spread of a few replicates is luck.
inline constexpr double kDispersionFloor = 0.001;

/// A two-sample t test whose variance is moderated by a prior.
struct ModeratedTest {
  double difference{};          // mean(next) - mean(base)
  double standard_deviation{};  // between processes: moderated, at least kDispersionFloor
  double standard_error{};      // of the difference
  double degrees_of_freedom{};
  double p_value{};       // two-sided
  Interval interval;      // of the difference, 95 %
  bool prior_rejected{};  // whether the values spread too much for the prior, which is then ignored
};

/// Tests the difference of two groups' means with the variance s~^2 = (d0 s0^2 + d_f s^2) / (d0 + d_f). The interval is
/// difference +- t(.975, d0 + d_f) s~ sqrt(1/R_b + 1/R_n). The prior is used unless rejects_prior(). With one value in
/// each group the test uses the prior variance alone, with d0 degrees of freedom.
/// @return  the test, or nullopt without any degree of freedom: one value in each group and no prior
/// @throws  std::invalid_argument  if a group is empty
/// @see     Smyth, Linear models and empirical Bayes methods, Stat. Appl. Genet. Mol. Biol. 3 (2004), section 4
[[nodiscard]] std::optional<ModeratedTest> moderated_t_test(std::span<const double> base, std::span<const double> next,
                                                            std::optional<DispersionPrior> prior = std::nullopt);

/// Returns adjusted p values in the order given. Rejecting all hypotheses with adjusted p <= q gives a false discovery
/// rate of q.
/// @throws  std::invalid_argument  for a value outside 0..1
/// @see     Benjamini and Hochberg, J. R. Statist. Soc. B 57 (1995)
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p_values);

/// Returns the smallest true difference of logarithms that is found in 8 of 10 comparisons:
/// (t(1 - q / 2m, nu) + t(.8, nu)) * standard error.
/// @param test                 the test with the standard error and nu, its degrees of freedom
/// @param false_discovery_rate q, above 0 and below 1
/// @param comparisons          m, the number of comparisons that are corrected together, at least 1
/// @throws                     std::invalid_argument  if the rate or the number is outside its range
[[nodiscard]] double smallest_detectable_difference(const ModeratedTest& test, double false_discovery_rate,
                                                    std::size_t comparisons);

/// Returns the geometric mean, exp(mean(ln values)).
/// @param values  at least one value, all above 0
/// @throws        std::invalid_argument  if there is no value, or one is not above 0
[[nodiscard]] double geometric_mean(std::span<const double> values);

}  // namespace tbench::stats
