// The hidden draws around a timed launch of foreign code: keys that the process does not have before the launch before
// was enqueued, and tensors as kernels/launch_check.hpp takes them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <random>
#include <span>

#include "tbench/kernels/launch_check.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// A tensor that a launch reads, and how it is drawn: standard normal values times `factor`, divided by `divisor`; ids
/// below `ids` if it has integers.
struct DrawnOperand {
  at::Tensor values;  // contiguous
  double factor{1.0};
  at::Tensor divisor{};  // float scalar on the same device, or undefined
  std::int64_t ids{1};
};

/// Returns a number of the operating system's generator.
/// @throws  std::system_error
[[nodiscard]] std::uint64_t hidden_number();
/// Returns a generator with a hidden seed.
[[nodiscard]] std::mt19937_64 hidden_generator();

[[nodiscard]] kernels::ElementType element_type(const at::Tensor& tensor);
/// Elements of the last dimension, and how many rows there are of them; a scalar is a row of one.
[[nodiscard]] std::int64_t columns_of(const at::Tensor& tensor);
[[nodiscard]] std::int64_t rows_of(const at::Tensor& tensor);

/// Enqueues new values of the operands, a function of their order and the key alone, and NaN for everything poisoned.
/// On a GPU one kernel on the current stream.
void draw_operands(std::span<const DrawnOperand> operands, std::uint64_t key, DeviceKind device,
                   std::span<const at::Tensor> poisoned = {});

/// Draws one index of the last dimension but one, in all others, of each operand once more; of a vector one element.
void draw_a_little(std::span<const DrawnOperand> operands, std::uint64_t key, DeviceKind device);

}  // namespace tbench::model
