#include "tbench/model/operation/exact.hpp"

#include <ATen/ops/argmax.h>
#include <ATen/ops/ne.h>
#include <fmt/format.h>

#include <utility>

#include "tbench/model/compare.hpp"

namespace tbench::model {

Verification verify_equal(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                          std::string reference) {
  const at::Tensor differs = at::ne(actual, expected).flatten();  // true for NaN
  if (!differs.any().item<bool>()) {
    return {.passed = true, .reference = std::move(reference), .worst_error = 0, .worst_where = {}, .message = {}};
  }
  const auto first = at::argmax(differs.view(at::kByte), 0).item<std::int64_t>();
  const auto value = [&](const at::Tensor& tensor) { return tensor.flatten()[first].item<double>(); };
  return {.passed = false,
          .reference = std::move(reference),
          .worst_error = kWorstErrorCap,
          .worst_where = fmt::format("{}[{}]", name, first),
          .message = fmt::format("{}[{}] is {:.9g}, and has to be {:.9g} exactly (bad elements: {})", name, first,
                                 value(actual), value(expected), differs.sum().item<std::int64_t>())};
}

}  // namespace tbench::model
