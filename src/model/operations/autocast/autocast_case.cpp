#include "tbench/model/autocast_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/operations/autocast/subjects.hpp"
#include "model/torch/dtype_observer.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

constexpr std::array<std::string_view, 2> kAutocastModules{"toy", "transformer"};

}  // namespace

std::string_view to_string(AutocastModule subject) { return kAutocastModules.at(static_cast<std::size_t>(subject)); }

std::optional<AutocastModule> parse_autocast_module(std::string_view text) {
  const auto found = std::ranges::find(kAutocastModules, text);
  if (found == kAutocastModules.end()) return std::nullopt;
  return static_cast<AutocastModule>(found - kAutocastModules.begin());
}

std::vector<std::string> autocast_module_names() { return {kAutocastModules.begin(), kAutocastModules.end()}; }

std::unique_ptr<Case> make_autocast_case(const AutocastConfig& config) {
  if (config.precision != Precision::kFp16 && config.precision != Precision::kBf16) {
    throw UsageError{fmt::format("precision:{}: autocast computes in fp16 or bf16", to_string(config.precision))};
  }
  return config.subject == AutocastModule::kToy ? make_toy_autocast(config) : make_transformer_autocast(config);
}

std::optional<std::string> autocast_unsupported_reason(const AutocastConfig& config) {
  if (config.device == DeviceKind::kCpu) return std::nullopt;
  return device_unsupported_reason(config.device, config.precision);
}

std::string dtypes_of_tensors(std::span<const at::Tensor> tensors) {
  Dtypes dtypes;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined()) return "none";
    if (std::ranges::find(dtypes, tensor.scalar_type()) == dtypes.end()) dtypes.push_back(tensor.scalar_type());
  }
  return dtype_text(dtypes);
}

std::string dtypes_of_gradients(std::span<const at::Tensor> parameters) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) gradients.push_back(parameter.grad());
  return dtypes_of_tensors(gradients);
}

}  // namespace tbench::model
