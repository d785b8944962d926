// Bounds that a right implementation's rounding errors exceed at most with a stated probability. The families'
// tolerances are made of these bounds; each family's own file derives its errors and their sizes.
#pragma once

#include <numbers>

namespace tbench::model {

/// The probability with which a right implementation may be rejected, per case and per verification; a case is verified
/// twice.
inline constexpr double kFalseRejections = 1e-3;
inline constexpr double kVerificationBudget = kFalseRejections / 2;

/// The largest rms of a rounding error, in unit round-offs u of the value: the error is uniform within u of the value.
inline constexpr double kRoundingRms = std::numbers::inv_sqrt3;

/// Returns the number z of standard deviations that any of `count` errors exceeds at most with the probability
/// `budget`. Each error is a sum of independent roundings and exceeds z with a probability of at most 2 exp(-z^2 / 2);
/// the union bound adds these up.
[[nodiscard]] double sum_bound(double count, double budget);

/// Returns the same bound for errors of sequential sums, in units of `a`. A sum of K normal terms of mean zero rounds
/// every partial sum s_j, with an error of rms u s_j / sqrt(3); a is u K / sqrt(3) times the terms' rms. Given the
/// partial sums, the error's variance is a^2 Q. Q = sum s_j^2 / K^2 varies from element to element as the integral of a
/// squared Brownian motion: E exp(x^2 Q / 2) = cos(x)^(-1/2). The error therefore exceeds t a with a probability of at
/// most sqrt(2 t) exp(0.73 - pi t / 2), which is more than for a normal variable.
/// @see  Cameron, Martin, Transformations of Wiener integrals (1945): the moment generating function of Q
[[nodiscard]] double walk_bound(double count, double budget);

/// Returns a / u for a sum of `terms` terms, see walk_bound(), in units of the sum's rms. K + 1 instead of K makes the
/// bound hold for few terms, too.
[[nodiscard]] double walk_roundoffs(double terms);

/// Returns the factor by which the norm of `terms` products of two normal values may exceed sqrt(terms) in any of
/// `count` such norms. Independent roundings of the products add up to an error of this size. The products' squares
/// have a variance of 8, and the largest norm is dominated by a single product, which exceeds t with a probability of
/// exp(-t).
[[nodiscard]] double product_spread(double terms, double count, double budget);

/// Returns the factor by which the norm of `degrees` independent errors may exceed its expected value: the norm's
/// square is a chi-squared variable over its degrees of freedom, for which P(chi2_n > n + 2 sqrt(n x) + 2 x) <=
/// exp(-x).
/// @see  Laurent and Massart, Adaptive estimation of a quadratic functional (2000), lemma 1
[[nodiscard]] double norm_fluctuation(double degrees, double budget);

/// Returns the fraction of its expected value below which the norm of `degrees` normal values falls at most with the
/// probability `budget`, by the same lemma: P(chi2_n < n - 2 sqrt(n x)) <= exp(-x). Returns 0 if the lemma gives no
/// bound.
[[nodiscard]] double norm_shortfall(double degrees, double budget);

/// Converts `deviations` standard deviations of a normal error to units of the rms of `degrees` other normal values of
/// the same deviation, which may be small by chance. This is a quantile of Student's distribution.
/// @see  Wallace, Bounds on normal approximations to Student's and the chi-square distributions (1959)
[[nodiscard]] double student_bound(double deviations, double degrees);

}  // namespace tbench::model
