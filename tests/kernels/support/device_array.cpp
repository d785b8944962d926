#include "support/device_array.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "tbench/cuda/device.hpp"

namespace tbench::kernels {
namespace {

constexpr std::byte kPoison{0xff};        // in every type a NaN
constexpr std::size_t kGuardBytes = 256;  // before and after; the alignment of cudaMalloc()

std::size_t bytes_of(Precision precision) { return precision == Precision::kFp32 ? 4 : 2; }

}  // namespace

Doubles normal_values(std::int64_t count, Precision precision, unsigned seed) {
  std::mt19937 random{seed};
  std::normal_distribution<double> normal;
  Doubles values(static_cast<std::size_t>(count));
  for (double& value : values) value = normal(random);
  return stored(std::move(values), precision);
}

Doubles stored(Doubles values, Precision precision) {
  std::array<std::byte, 4> bytes{};
  for (double& value : values) {
    store_element(precision, value, bytes.data());
    value = load_element(precision, bytes.data());
  }
  return values;
}

double round_off(Precision precision) {
  return precision == Precision::kFp32 ? 0x1p-24 : precision == Precision::kBf16 ? 0x1p-8 : 0x1p-11;
}

double least_error(Precision precision) {
  return precision == Precision::kFp16 ? 0x1p-25 : 0x1p-126;  // smaller float32 results may be flushed to zero
}

DeviceArray::DeviceArray(std::int64_t count, Precision precision, std::int64_t offset)
    : count_{count},
      precision_{precision},
      element_bytes_{bytes_of(precision)},
      first_{kGuardBytes / element_bytes_ + static_cast<std::size_t>(offset)},
      memory_{(first_ + static_cast<std::size_t>(count)) * element_bytes_ + kGuardBytes} {
  TBENCH_CUDA_CHECK(cudaMemset(memory_.data(), std::to_integer<int>(kPoison), memory_.size()));
}

DeviceArray::DeviceArray(const Doubles& values, Precision precision, std::int64_t offset)
    : DeviceArray{std::ssize(values), precision, offset} {
  std::vector<std::byte> bytes(values.size() * element_bytes_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_element(precision, values[i], bytes.data() + i * element_bytes_);
  }
  TBENCH_CUDA_CHECK(cudaMemcpy(data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
}

Doubles DeviceArray::read() const {
  std::vector<std::byte> bytes(memory_.size());
  TBENCH_CUDA_CHECK(cudaMemcpy(bytes.data(), memory_.data(), bytes.size(), cudaMemcpyDeviceToHost));
  const std::size_t begin = first_ * element_bytes_, end = begin + static_cast<std::size_t>(count_) * element_bytes_;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == begin) i = end;
    if (i < bytes.size() && bytes[i] != kPoison) {
      ADD_FAILURE() << "byte " << i << " was written; the elements are bytes " << begin << " to " << end;
      break;
    }
  }
  Doubles values(static_cast<std::size_t>(count_));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = load_element(precision_, bytes.data() + begin + i * element_bytes_);
  }
  return values;
}

void expect_close(std::string_view name, const Doubles& actual, const Doubles& expected,
                  const std::function<double(std::size_t)>& allowed) {
  ASSERT_EQ(actual.size(), expected.size()) << name;
  std::size_t bad = 0, first_bad = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const bool matches = std::isfinite(expected[i]) ? std::abs(actual[i] - expected[i]) <= allowed(i)
                         : std::isnan(expected[i])  ? std::isnan(actual[i])
                                                    : actual[i] == expected[i];
    if (!matches && bad++ == 0) first_bad = i;
  }
  if (bad == 0) return;
  ADD_FAILURE() << fmt::format("{}[{}] is {:.9g}, not {:.9g} +- {:.3g}; {} of {} elements are off", name, first_bad,
                               actual[first_bad], expected[first_bad], allowed(first_bad), bad, actual.size());
}

bool is_without_gpu() { return cuda::device_count() == 0; }

}  // namespace tbench::kernels
