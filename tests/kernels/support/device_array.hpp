// Flat arrays on the GPU for tests of kernels, with guards around them. Compares a kernel's results in them with
// float64 numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "support/device_tensor.hpp"
#include "tbench/core/enums.hpp"

namespace tbench::kernels {

using Doubles = std::vector<double>;

/// Returns `count` seeded normal values, rounded to the storage type.
[[nodiscard]] Doubles normal_values(std::int64_t count, Precision precision, unsigned seed);
/// Returns the values as storing rounds them.
[[nodiscard]] Doubles stored(Doubles values, Precision precision);
/// Returns the unit round-off of the storage type: 2^-24 (fp32), 2^-8 (bf16) or 2^-11 (fp16).
[[nodiscard]] double round_off(Precision precision);
/// Returns the largest error of rounding to a subnormal number of the type.
[[nodiscard]] double least_error(Precision precision);

class DeviceArray {
 public:
  /// Poisons every byte, so that elements are NaN.
  /// @param offset  elements from an address aligned to 256 bytes
  DeviceArray(std::int64_t count, Precision precision, std::int64_t offset = 0);
  DeviceArray(const Doubles& values, Precision precision, std::int64_t offset = 0);

  [[nodiscard]] void* data() const { return memory_.data() + first_ * element_bytes_; }
  [[nodiscard]] float* floats() const { return static_cast<float*>(data()); }
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Returns the elements. Synchronises; the test fails if a byte around them was written.
  [[nodiscard]] Doubles read() const;

 private:
  std::int64_t count_;
  Precision precision_;
  std::size_t element_bytes_;
  std::size_t first_;  // elements before the first
  DeviceBytes memory_;
};

/// Fails the test, with the first bad index, unless every |actual - expected| is at most allowed(index). A NaN matches
/// only a NaN, and an infinity only itself.
void expect_close(std::string_view name, const Doubles& actual, const Doubles& expected,
                  const std::function<double(std::size_t)>& allowed);

/// Returns whether the test must be skipped.
[[nodiscard]] bool is_without_gpu();

}  // namespace tbench::kernels
