#include "model/torch/launch_draw.hpp"

#include <ATen/core/grad_mode.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace tbench::model {
namespace {

using kernels::Contents;
using kernels::DrawnRows;

/// Describes a tensor as one row to draw.
/// @param tensor  a contiguous tensor
DrawnRows rows_to_draw(const at::Tensor& tensor, Contents contents) {
  return {.data = const_cast<void*>(tensor.const_data_ptr()),  // bypasses autograd, which counts in-place writes
          .type = element_type(tensor),
          .contents = contents,
          .columns = tensor.numel(),
          .stride = tensor.numel()};
}

DrawnRows whole_of(const DrawnOperand& operand) {
  DrawnRows rows =
      rows_to_draw(operand.values, operand.values.is_floating_point() ? Contents::kNormal : Contents::kIds);
  rows.factor = static_cast<float>(operand.factor);
  rows.divisor = operand.divisor.defined() ? operand.divisor.const_data_ptr<float>() : nullptr;
  rows.ids = operand.ids;
  return rows;
}

/// Narrows the rows of a whole operand to one index of the second-to-last dimension.
DrawnRows little_of(const DrawnOperand& operand, std::uint64_t random) {
  DrawnRows rows = whole_of(operand);
  const at::Tensor& values = operand.values;
  const bool is_vector = values.dim() < 2;
  const std::int64_t inner = is_vector ? 1 : values.size(-1), extent = is_vector ? values.numel() : values.size(-2);
  if (extent == 0) return rows;
  const auto index = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(extent));
  rows.data = static_cast<char*>(rows.data) + index * inner * values.element_size();
  rows.rows = is_vector ? 1 : values.numel() / (inner * extent);
  rows.columns = inner;
  rows.stride = inner * extent;
  return rows;
}

void draw(std::span<const DrawnRows> rows, std::uint64_t key, DeviceKind device) {
  if (device == DeviceKind::kCpu) return kernels::draw_on_host(rows, key);
  kernels::draw_on_device(rows, key, c10::cuda::getCurrentCUDAStream().stream());
}

}  // namespace

std::uint64_t hidden_number() {
  std::uint64_t number{};
  while (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) {
    if (errno != EINTR) throw std::system_error{errno, std::generic_category(), "getrandom"};
  }
  return number;
}

std::mt19937_64 hidden_generator() { return std::mt19937_64{hidden_number()}; }

kernels::ElementType element_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return kernels::ElementType::kFloat;
    case at::kBFloat16:
      return kernels::ElementType::kBf16;
    case at::kHalf:
      return kernels::ElementType::kFp16;
    case at::kFloat8_e4m3fn:
      return kernels::ElementType::kFp8E4m3;
    case at::kLong:
      return kernels::ElementType::kInt64;
    default:
      throw std::logic_error{fmt::format("launches are not checked on {}", c10::toString(tensor.scalar_type()))};
  }
}

std::int64_t columns_of(const at::Tensor& tensor) { return tensor.dim() == 0 ? 1 : tensor.size(-1); }

std::int64_t rows_of(const at::Tensor& tensor) {
  const std::int64_t columns = columns_of(tensor);
  return columns == 0 ? 0 : tensor.numel() / columns;
}

void draw_operands(std::span<const DrawnOperand> operands, std::uint64_t key, DeviceKind device,
                   std::span<const at::Tensor> poisoned) {
  const at::NoGradGuard no_grad;
  std::vector<DrawnRows> rows;
  for (const DrawnOperand& operand : operands) rows.push_back(whole_of(operand));
  for (const at::Tensor& tensor : poisoned) {
    if (!tensor.defined()) continue;
    if (tensor.is_contiguous()) {
      rows.push_back(rows_to_draw(tensor, Contents::kNaN));
    } else {
      tensor.fill_(std::numeric_limits<double>::quiet_NaN());
    }
  }
  draw(rows, key, device);
}

void draw_a_little(std::span<const DrawnOperand> operands, std::uint64_t key, DeviceKind device) {
  std::mt19937_64 random{key};
  std::vector<DrawnRows> rows;
  for (const DrawnOperand& operand : operands) rows.push_back(little_of(operand, random()));
  draw(rows, key, device);
}

}  // namespace tbench::model
