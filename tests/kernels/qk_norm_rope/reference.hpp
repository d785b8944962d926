// Inputs of the kernels of the norms of q and k with rope, and their results in float64.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/device_array.hpp"
#include "tbench/kernels/qk_norm_rope.hpp"

namespace tbench::kernels {

struct QkExtents {
  std::int64_t tokens, seq, heads, kv_heads, head_dim;
  std::int64_t padding{};  // elements between the heads of a token and those of the next, as v has
  std::int64_t offset{};   // offset of every array from an aligned address, in elements: even

  [[nodiscard]] std::int64_t all_heads() const { return heads + kv_heads; }
  [[nodiscard]] std::int64_t stride() const { return all_heads() * head_dim + padding; }
  [[nodiscard]] std::size_t index(std::int64_t token, std::int64_t head, std::int64_t column) const {
    return static_cast<std::size_t>(token * stride() + head * head_dim + column);
  }
};

inline QkNormRopeShape shape_of(const QkExtents& e, Precision precision) {
  return {.tokens = e.tokens,
          .seq = e.seq,
          .heads = e.heads,
          .kv_heads = e.kv_heads,
          .head_dim = e.head_dim,
          .precision = precision,
          .epsilon = 1e-5F};
}

struct QkInputs {
  Doubles x, dy, q_weight, k_weight, cos, sin;
};

/// Draws angles that belong to no position and weights of either sign that differ between q and k, so that the wrong
/// row of either is found.
inline QkInputs qk_inputs(const QkExtents& e, Precision precision) {
  const std::int64_t count = e.tokens * e.stride();
  QkInputs inputs{.x = normal_values(count, precision, 1),
                  .dy = normal_values(count, precision, 2),
                  .q_weight = normal_values(e.head_dim, Precision::kFp32, 3),
                  .k_weight = normal_values(e.head_dim, Precision::kFp32, 4),
                  .cos = normal_values(e.seq * e.head_dim / 2, Precision::kFp32, 5),
                  .sin = {}};
  inputs.sin = inputs.cos;
  for (double& value : inputs.cos) value = std::cos(value);
  for (double& value : inputs.sin) value = std::sin(value);
  inputs.cos = stored(inputs.cos, Precision::kFp32);
  inputs.sin = stored(inputs.sin, Precision::kFp32);
  return inputs;
}

/// One result, with the allowed error of each element if it is expected.
struct QkResult {
  std::string name;
  Doubles values, allowed;
};

/// Computes one head's row of y and dx and its part of the weight's gradient.
class QkReference {
 public:
  QkReference(const QkExtents& e, Precision precision, const QkInputs& in, bool in_place)
      : e_{e}, precision_{precision}, in_{in} {
    // Elements between the heads are not written: NaN in new arrays, the inputs in arrays that are overwritten.
    const Doubles unwritten(in.x.size(), std::numeric_limits<double>::quiet_NaN());
    y_ = {.name = "y", .values = in_place ? in.x : unwritten, .allowed = Doubles(in.x.size())};
    dx_ = {.name = "dx", .values = in_place ? in.dy : unwritten, .allowed = Doubles(in.x.size())};
    const Doubles zeros(static_cast<std::size_t>(e.head_dim));
    dq_ = {.name = "dq_weight", .values = zeros, .allowed = zeros};
    dk_ = {.name = "dk_weight", .values = zeros, .allowed = zeros};
    for (std::int64_t token = 0; token < e.tokens; ++token) {
      for (std::int64_t head = 0; head < e.all_heads(); ++head) add_row(token, head);
    }
  }
  [[nodiscard]] std::vector<QkResult> results() const { return {y_, dx_, dq_, dk_}; }

 private:
  static constexpr double kU = 0x1p-24;

  [[nodiscard]] double rounding(double value) const {
    return 1.01 * round_off(precision_) * std::abs(value) + least_error(precision_);
  }
  void add_row(std::int64_t token, std::int64_t head) {
    const auto width = static_cast<std::size_t>(e_.head_dim), begin = e_.index(token, head, 0);
    const Doubles& weight = head < e_.heads ? in_.q_weight : in_.k_weight;
    QkResult& dweight = head < e_.heads ? dq_ : dk_;
    const double roundoffs = (16 + std::sqrt(static_cast<double>(width))) * kU;
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += in_.x[begin + i] * in_.x[begin + i];
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(width) + static_cast<double>(1e-5F));
    Doubles normed(width), slopes(width), sizes(width);  // n, g weight, and the size of the terms of g weight
    double products = 0, product_sizes = 0;
    for (std::size_t i = 0; i < width; i += 2) {
      const auto angle = static_cast<std::size_t>(token % e_.seq) * width / 2 + i / 2;
      const double c = in_.cos[angle], s = in_.sin[angle], a = in_.dy[begin + i], b = in_.dy[begin + i + 1];
      const Doubles turned{a * c + b * s, b * c - a * s};
      for (const std::size_t j : {i, i + 1}) {
        normed[j] = in_.x[begin + j] * rstd;
        slopes[j] = turned[j - i] * weight[j];
        sizes[j] = (std::abs(a) + std::abs(b)) * std::abs(weight[j]);
        products += slopes[j] * normed[j];
        product_sizes += sizes[j] * std::abs(normed[j]);
        dweight.values[j] += turned[j - i] * normed[j];
        dweight.allowed[j] += 4 * roundoffs * (std::abs(a) + std::abs(b)) * std::abs(normed[j]);
      }
      const double u = normed[i] * weight[i], v = normed[i + 1] * weight[i + 1];
      y_.values[begin + i] = u * c - v * s;
      y_.values[begin + i + 1] = u * s + v * c;
      for (const std::size_t j : {i, i + 1}) {
        y_.allowed[begin + j] = roundoffs * (std::abs(u) + std::abs(v)) + rounding(y_.values[begin + j]);
      }
    }
    for (std::size_t i = 0; i < width; ++i) {
      const auto mean = [&](double sum) { return sum / static_cast<double>(width); };
      dx_.values[begin + i] = rstd * (slopes[i] - normed[i] * mean(products));
      dx_.allowed[begin + i] =
          roundoffs * rstd * (sizes[i] + std::abs(normed[i]) * mean(product_sizes)) + rounding(dx_.values[begin + i]);
    }
  }

  const QkExtents& e_;
  Precision precision_;
  const QkInputs& in_;
  QkResult y_, dx_, dq_, dk_;
};

}  // namespace tbench::kernels
