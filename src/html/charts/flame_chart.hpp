// An icicle: what a whole is made of, from the top to the bottom, without a script.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tbench::html {

struct FlameBox {
  std::string name;
  std::string said;                     // what the pointer is told behind the name
  std::optional<std::size_t> parent{};  // index of a box before it; none: in the top row
  double value{};                       // how wide it is, in the unit of all
  std::string colour{};                 // CSS
};

struct FlameChart {
  std::string title;
  std::vector<FlameBox> boxes;
};

/// A `figure` as wide as the page. Boxes of one parent are side by side in their order and begin where the parent does;
/// the top row is as wide as the picture. What is too narrow to be seen is not drawn, and names are cut to their box:
/// of `attention.qkv` in `attention` there is `qkv`. Texts are escaped.
/// @param chart  values are finite, above 0 in sum and at least 0; those of one parent are at most it in sum
/// @throws       std::invalid_argument  for another one, or a parent that is not before its box
[[nodiscard]] std::string flame_chart(const FlameChart& chart);

}  // namespace tbench::html
