// Computes one head of attention and its gradients in float64, not causal, for inputs that are not finite, which the
// reference does not support.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tbench::kernels {

/// [rows, columns] each, except lse [queries].
struct ExactHead {
  std::vector<double> o, lse, dq, dk, dv;
};

struct HeadInputs {
  std::vector<double> q, k, v, grad_o;  // [rows, columns]
  std::size_t columns{};
  double scale{};
};

inline ExactHead exact_head(const HeadInputs& in) {
  const std::size_t columns = in.columns, queries = in.q.size() / columns, keys = in.k.size() / columns;
  const auto at = [columns](const std::vector<double>& rows, std::size_t row, std::size_t column) {
    return rows[row * columns + column];
  };
  const auto product = [&](const std::vector<double>& a, std::size_t i, const std::vector<double>& b, std::size_t j) {
    double sum = 0;
    for (std::size_t d = 0; d < columns; ++d) sum += at(a, i, d) * at(b, j, d);
    return sum;
  };
  const std::vector<double> of_queries(in.q.size()), of_keys(in.k.size());
  ExactHead exact{.o = of_queries, .lse = {}, .dq = of_queries, .dk = of_keys, .dv = of_keys};
  for (std::size_t i = 0; i < queries; ++i) {
    std::vector<double> p(keys);
    double highest = -INFINITY, total = 0, delta = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      p[j] = in.scale * product(in.q, i, in.k, j);
      highest = std::isnan(p[j]) ? p[j] : std::max(p[j], highest);
    }
    for (const double score : p) total += std::exp(score - highest);
    exact.lse.push_back(highest + std::log(total));
    for (double& one : p) one = std::exp(one - exact.lse.back());
    for (std::size_t d = 0; d < columns; ++d) {
      double& o = exact.o[i * columns + d];
      for (std::size_t j = 0; j < keys; ++j) o += p[j] * at(in.v, j, d);
      delta += o * at(in.grad_o, i, d);
    }
    for (std::size_t j = 0; j < keys; ++j) {
      const double ds = in.scale * p[j] * (product(in.grad_o, i, in.v, j) - delta);
      for (std::size_t d = 0; d < columns; ++d) {
        exact.dq[i * columns + d] += ds * at(in.k, j, d);
        exact.dk[j * columns + d] += ds * at(in.q, i, d);
        exact.dv[j * columns + d] += p[j] * at(in.grad_o, i, d);
      }
    }
  }
  return exact;
}

}  // namespace tbench::kernels
