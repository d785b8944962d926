#include "model/torch/output_checker.hpp"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <ranges>
#include <stdexcept>

#include "model/torch/torch_case.hpp"
#include "tbench/cuda/device.hpp"

namespace tbench::model {

namespace {

constexpr std::uint64_t kLaunchesPerCopy = 8;

/// Bytes of the GPU's L2 cache that note_persisting_l2_bytes() has found.
std::optional<std::size_t> noted_persisting_l2_bytes;

/// FP8 knows no arithmetic.
void turn_signs(const at::Tensor& place) {
  if (place.scalar_type() == at::kFloat8_e4m3fn) {
    constexpr std::uint8_t kSign = 0x80;
    place.view(at::kByte).bitwise_xor_(kSign);
  } else {
    place.neg_();
  }
}

}  // namespace

void Perturbation::undo() const {
  const at::NoGradGuard no_grad;
  if (before.defined()) {
    place.copy_(before);
  } else {
    turn_signs(place);
  }
}

Perturbation perturb(const at::Tensor& tensor, std::mt19937_64& random) {
  const at::NoGradGuard no_grad;
  const at::Tensor all = tensor.dim() == 0 ? tensor.view({1}) : tensor;
  const std::int64_t dimension = all.dim() == 1 ? 0 : all.dim() - 2;
  const auto any_index = [&] {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(all.size(dimension)));
  };
  Perturbation change{.place = all.narrow(dimension, any_index(), 1), .before = {}};
  if (all.is_floating_point()) {
    turn_signs(change.place);
  } else {
    change.before = change.place.clone();
    change.place.copy_(all.narrow(dimension, any_index(), 1));
  }
  return change;
}

void note_persisting_l2_bytes() {
  if (!noted_persisting_l2_bytes) noted_persisting_l2_bytes = cuda::persisting_l2_bytes();
}

void OutputChecker::before() {
  with_out_of_memory_translated([this] {
    for (const at::Tensor& operand : subject_.operands()) since_copy_.push_back(perturb(operand, random_));
  });
}

void OutputChecker::after() {
  if (!copies_.empty() && random_() % kLaunchesPerCopy != 0) return;
  since_copy_.clear();
  with_out_of_memory_translated([this] { copy_outputs(); });
}

void OutputChecker::copy_outputs() {
  const at::NoGradGuard no_grad;
  const Tensors outputs = subject_.outputs();
  const bool is_first = copies_.size() != outputs.size();
  if (is_first) copies_.resize(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) continue;
    if (is_first) {
      copies_[i] = outputs[i].detach().clone();
    } else {
      copies_[i].copy_(outputs[i].detach());
    }
  }
}

Verification OutputChecker::verdict() {
  if (copies_.empty()) throw std::logic_error{"an output checker has no verdict before it has seen a launch"};
  for (const Perturbation& change : std::views::reverse(since_copy_)) change.undo();
  since_copy_.clear();
  Verification verdict;
  with_out_of_memory_translated([&] { verdict = subject_.compare(copies_); });
  copies_.clear();
  if (!verdict.passed || device_ != DeviceKind::kCuda) return verdict;
  const std::size_t bytes = cuda::persisting_l2_bytes();
  if (const std::size_t before = noted_persisting_l2_bytes.value_or(bytes); bytes != before) {
    verdict.passed = false;
    verdict.message = fmt::format(
        "the step changes what is set aside of the L2 cache for persisting lines (cudaLimitPersistingL2CacheSize) from "
        "{} to {} bytes: no other implementation has them",
        before, bytes);
  }
  return verdict;
}

}  // namespace tbench::model
