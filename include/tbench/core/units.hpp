// Quantities with their units as types: SI inside the program, converted only where text is printed.
#pragma once

#include <compare>

namespace tbench {

struct Seconds {
  double value{};
  auto operator<=>(const Seconds&) const = default;
};
struct Bytes {
  double value{};
  auto operator<=>(const Bytes&) const = default;
};
/// Floating-point operations, not a rate: a multiply and an add count as two.
struct Flop {
  double value{};
  auto operator<=>(const Flop&) const = default;
};
struct Hertz {
  double value{};
  auto operator<=>(const Hertz&) const = default;
};
struct Watts {
  double value{};
  auto operator<=>(const Watts&) const = default;
};
struct Joules {
  double value{};
  auto operator<=>(const Joules&) const = default;
};
struct FlopPerSecond {
  double value{};
  auto operator<=>(const FlopPerSecond&) const = default;
};

constexpr Seconds operator+(Seconds a, Seconds b) { return {a.value + b.value}; }
constexpr Seconds operator-(Seconds a, Seconds b) { return {a.value - b.value}; }
constexpr Seconds operator*(Seconds t, double factor) { return {t.value * factor}; }
constexpr Seconds operator/(Seconds t, double divisor) { return {t.value / divisor}; }
constexpr double operator/(Seconds a, Seconds b) { return a.value / b.value; }
constexpr Flop operator+(Flop a, Flop b) { return {a.value + b.value}; }
constexpr Flop operator*(Flop work, double factor) { return {work.value * factor}; }
constexpr FlopPerSecond operator/(Flop work, Seconds t) { return {work.value / t.value}; }

constexpr double to_milliseconds(Seconds t) { return t.value * 1e3; }
constexpr double to_microseconds(Seconds t) { return t.value * 1e6; }

}  // namespace tbench
