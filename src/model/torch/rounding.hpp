// Bounds that a right implementation's rounding errors keep with a stated probability: what the families' tolerances
// are made of. A family's own file says which errors there are and how large.
#pragma once

#include <numbers>

namespace tbench::model {

/// The probability with which a right implementation may be rejected: of a case, which is verified twice.
inline constexpr double kFalseRejections = 1e-3;
inline constexpr double kVerificationBudget = kFalseRejections / 2;

/// The rms of a rounding in unit round-offs of the value: it is uniform within u of the value at most.
inline constexpr double kRoundingRms = std::numbers::inv_sqrt3;

/// How many of its standard deviations none of `count` errors exceeds, each a sum of independent roundings, but with
/// the probability `budget`: such a sum exceeds z of them with 2 exp(-z^2 / 2) at most, and the union bound adds up.
[[nodiscard]] double sum_bound(double count, double budget);

/// The same in units of `a`, where every partial sum s_j of K terms that are normal and of mean zero is rounded: u s_j
/// / sqrt(3) each, so that a = u K / sqrt(3) terms. Given the sums the error's variance is a^2 Q, and Q = sum s_j^2 /
/// K^2 varies from element to element as the integral of a squared Brownian motion: E exp(x^2 Q / 2) = cos(x)^(-1/2).
/// The error then exceeds t a with sqrt(2 t) exp(0.73 - pi t / 2) at most: more than a normal variable would.
/// @see  Cameron, Martin, Transformations of Wiener integrals (1945): the moment generating function of Q
[[nodiscard]] double walk_bound(double count, double budget);

/// a / u of a walk of `terms` terms, in units of the whole sum's rms. That K + 1 stands for K covers few terms.
[[nodiscard]] double walk_roundoffs(double terms);

/// Returns the factor by which the root of a sum of squares of `terms` products of two normal values, to which
/// independent roundings of these products add up, may exceed sqrt(terms) in any of `count` such sums: the squares have
/// a variance of 8, and the largest sum is dominated by a single product, which exceeds t with exp(-t).
[[nodiscard]] double product_spread(double terms, double count, double budget);

/// Returns the factor by which the norm of `degrees` independent errors may exceed its level: its square is a
/// chi-squared variable over its degrees of freedom, for which P(chi2_n > n + 2 sqrt(n x) + 2 x) <= exp(-x).
/// @see  Laurent and Massart, Adaptive estimation of a quadratic functional (2000), lemma 1
[[nodiscard]] double norm_fluctuation(double degrees, double budget);

/// The share of its level below which the norm of `degrees` normal values does not stay, by the same lemma:
/// P(chi2_n < n - 2 sqrt(n x)) <= exp(-x). 0 where it says nothing.
[[nodiscard]] double norm_shortfall(double degrees, double budget);

/// Converts `deviations` standard deviations of a normal error to units of the rms of `degrees` other normal values of
/// the same deviation, which may be small by chance: a quantile of Student's distribution.
/// @see  Wallace, Bounds on normal approximations to Student's and the chi-square distributions (1959)
[[nodiscard]] double student_bound(double deviations, double degrees);

}  // namespace tbench::model
