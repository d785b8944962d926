// A waterfall chart that needs no script: rows of bars that each begin where the one above ended, and sums from 0.
#pragma once

#include <string>
#include <vector>

#include "tbench/studies/study.hpp"

namespace tbench::html {

struct WaterfallBar {
  std::string name;
  studies::StudyStep step{};        // not kNone
  double value{};                   // its length; negative: to the left
  std::vector<std::string> labels;  // behind the bar, a column each
  std::string detail;               // what the pointer is told; may be empty
};

struct WaterfallChart {
  std::string title;
  std::string x;  // title of the axis: the values' unit
  std::vector<WaterfallBar> bars;
  std::string note;  // below; may be empty
};

/// A `figure`. Where rows do not add up to a sum, the next bar begins where the sum ends. Texts are escaped.
/// @param chart  has a bar that is not 0; all are finite
/// @throws       std::invalid_argument  for another one
[[nodiscard]] std::string waterfall_chart(const WaterfallChart& chart);

}  // namespace tbench::html
