// Whether two sides may be compared, and how their environments differ. Private to the report layer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tbench/report/comparison_input.hpp"

namespace tbench::report {

/// A case that both sides have. Points into the sides.
struct MatchedCase {
  const ComparedCase* base;
  const ComparedCase* next;
};

/// GPUs, or processors where there was none, of a side; empty where no file tells.
[[nodiscard]] std::string device_names(const ComparisonSide& side);

/// Whether the sides come from different devices, as far as they tell. A part of a GPU (MIG) is not the GPU.
[[nodiscard]] bool devices_differ(const ComparisonSide& base, const ComparisonSide& next);

/// What is not the same in the environments: "driver: 580.1 against 590.2".
[[nodiscard]] std::vector<std::string> differences_of(const ComparisonSide& base, const ComparisonSide& next);

/// Why the numbers must not be put beside each other: several devices on a side, another clock policy, other work of
/// the same case, a time taken in another way (regime, L2). None: they may.
[[nodiscard]] std::vector<std::string> objections(const ComparisonSide& base, const ComparisonSide& next,
                                                  std::span<const MatchedCase> pairs);

}  // namespace tbench::report
