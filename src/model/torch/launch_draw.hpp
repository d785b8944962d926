// Hidden random draws for a timed launch of foreign code. The process does not have a launch's keys before the previous
// launch was enqueued. Converts tensors for kernels/launch_check.hpp.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <random>
#include <span>

#include "tbench/kernels/launch_check.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// A tensor that a launch reads, and its distribution: standard normal values times `factor`, divided by `divisor`, or,
/// for integers, ids below `ids`.
struct DrawnOperand {
  at::Tensor values;  // must be contiguous
  double factor{1.0};
  at::Tensor divisor{};  // float scalar on the same device, or undefined
  std::int64_t ids{1};
};

/// Returns a random number from the operating system's generator.
/// @throws  std::system_error  if the generator fails
[[nodiscard]] std::uint64_t hidden_number();
/// Returns a generator with a hidden seed.
[[nodiscard]] std::mt19937_64 hidden_generator();

[[nodiscard]] kernels::ElementType element_type(const at::Tensor& tensor);
/// Return the extent of the last dimension, and the number of such rows; a scalar is a row of one element.
[[nodiscard]] std::int64_t columns_of(const at::Tensor& tensor);
[[nodiscard]] std::int64_t rows_of(const at::Tensor& tensor);

/// Enqueues new values for the operands, which depend on their order and the key alone, and fills the poisoned tensors
/// with NaN. On a GPU, this is one kernel on the current stream.
void draw_operands(std::span<const DrawnOperand> operands, std::uint64_t key, DeviceKind device,
                   std::span<const at::Tensor> poisoned = {});

/// Draws a small part of each operand again: one random index of the second-to-last dimension, for all indices of the
/// other dimensions; one element of a vector.
void draw_a_little(std::span<const DrawnOperand> operands, std::uint64_t key, DeviceKind device);

}  // namespace tbench::model
