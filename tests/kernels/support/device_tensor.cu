#include "support/device_tensor.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace tbench::kernels {
namespace {

constexpr std::byte kPoison{0xff};     // a NaN in all four types
constexpr std::int64_t kGuard = 1024;  // elements before and after; keeps an alignment of at least 16 bytes

std::size_t bytes_of_element(Precision precision) {
  return precision == Precision::kFp32 || precision == Precision::kTf32 ? 4 : 2;
}

/// Calls visit(function from double to element, function from element to double).
template <class Visit>
void with_element(Precision precision, const Visit& visit) {
  if (precision == Precision::kBf16) {
    visit([](double value) { return __double2bfloat16(value); },
          [](__nv_bfloat16 element) { return static_cast<double>(__bfloat162float(element)); });
  } else if (precision == Precision::kFp16) {
    visit([](double value) { return __double2half(value); },
          [](__half element) { return static_cast<double>(__half2float(element)); });
  } else {
    visit([](double value) { return static_cast<float>(value); },
          [](float element) { return static_cast<double>(element); });
  }
}

void store_row(Precision precision, std::span<const double> values, std::byte* to) {
  with_element(precision, [&](const auto& narrow, const auto&) {
    for (const double value : values) {
      const auto element = narrow(value);
      std::memcpy(to, &element, sizeof element);
      to += sizeof element;
    }
  });
}

void load_row(Precision precision, const std::byte* from, std::span<double> values) {
  with_element(precision, [&](const auto& narrow, const auto& widen) {
    for (double& value : values) {
      auto element = narrow(0);
      std::memcpy(&element, from, sizeof element);
      value = widen(element);
      from += sizeof element;
    }
  });
}

struct Placement {
  std::array<std::int64_t, 4> strides;
  std::int64_t first;  // offset from an aligned address
};

Placement place(const DeviceTensor::Extents& extents, Layout layout) {
  const auto [batch, heads, seq, depth] = extents;
  switch (layout) {
    case Layout::kContiguous:
      return {{heads * seq * depth, seq * depth, depth, 1}, 0};
    case Layout::kTransposed:
      return {{seq * heads * depth, depth, heads * depth, 1}, 0};
    case Layout::kPacked:
      return {{seq * 3 * heads * depth, depth, 3 * heads * depth, 1}, heads * depth};
    case Layout::kUnaligned:
      return {{heads * seq * (depth + 1), seq * (depth + 1), depth + 1, 1}, 1};
    case Layout::kOneRow:
      return {{0, 0, 0, 1}, 0};
    case Layout::kOneBatch:
      return {{0, seq * depth, depth, 1}, 0};
  }
  return {};
}

/// The output function of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): adjacent counters give unrelated bits.
__device__ std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Returns one of the pair of normal numbers that the Box-Muller transform gives.
__device__ float normal(std::uint64_t bits) {
  const float u = (static_cast<float>(bits >> 40U) + 0.5F) * 0x1p-24F;
  const float angle = static_cast<float>(bits & 0xffffffU) * 0x1p-23F;  // in half rotations
  return sqrtf(-2.0F * logf(u)) * cospif(angle);
}

template <class Element>
__global__ void fill_normal_kernel(Element* data, std::int64_t count, std::uint64_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    data[i] = static_cast<Element>(normal(mix(mix(seed) + static_cast<std::uint64_t>(i))));
  }
}

template <class Element>
void launch(void* data, std::int64_t count, std::uint64_t seed, cudaStream_t stream) {
  fill_normal_kernel<<<1024, 256, 0, stream>>>(static_cast<Element*>(data), count, seed);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

std::string to_string(Layout layout) {
  constexpr std::array kNames{"contiguous", "transposed", "packed", "unaligned", "one row", "one batch"};
  return kNames.at(static_cast<std::size_t>(layout));
}

DeviceBytes::DeviceBytes(std::size_t size) : size_{size} {
  void* memory{};
  TBENCH_CUDA_CHECK(cudaMalloc(&memory, std::max<std::size_t>(size, 1)));
  memory_.reset(static_cast<std::byte*>(memory));
}

void store_element(Precision precision, double value, std::byte* to) { store_row(precision, {&value, 1}, to); }

double load_element(Precision precision, const std::byte* from) {
  double value{};
  load_row(precision, from, {&value, 1});
  return value;
}

DeviceTensor::DeviceTensor(const Extents& extents, Precision precision, Layout layout, Guard guard)
    : extents_{extents}, precision_{precision}, element_bytes_{bytes_of_element(precision)} {
  const Placement placement = place(extents, layout);
  const std::int64_t margin = guard == Guard::kSurrounded ? kGuard : 0;
  strides_ = placement.strides;
  first_ = margin + placement.first;
  std::int64_t last = first_;
  for (std::size_t i = 0; i < 4; ++i) last += (extents_.at(i) - 1) * strides_.at(i);
  memory_ = std::make_unique<DeviceBytes>(static_cast<std::size_t>(last + 1 + margin) * element_bytes_);
  const bool has_gaps = last + 1 + margin > extents_[0] * extents_[1] * extents_[2] * extents_[3];
  if (has_gaps) poison();
}

TensorView DeviceTensor::view() const {
  return {.data = memory_->data() + static_cast<std::size_t>(first_) * element_bytes_,
          .strides = {strides_[0], strides_[1], strides_[2]}};
}

void DeviceTensor::poison() {
  TBENCH_CUDA_CHECK(cudaMemset(memory_->data(), std::to_integer<int>(kPoison), memory_->size()));
}

std::int64_t DeviceTensor::element_offset(const std::array<std::int64_t, 4>& index) const {
  std::int64_t offset = first_;
  for (std::size_t i = 0; i < 4; ++i) offset += index.at(i) * strides_.at(i);
  return offset;
}

template <class Visit>
void DeviceTensor::for_each_row(const Visit& visit) const {
  const auto [batch, heads, seq, depth] = extents_;
  for (std::int64_t row = 0; row < batch * heads * seq; ++row) {
    visit(static_cast<std::size_t>(element_offset({row / seq / heads, row / seq % heads, row % seq, 0})) *
          element_bytes_);
  }
}

void DeviceTensor::write(const std::vector<double>& elements) {
  std::vector<std::byte> all(memory_->size(), kPoison);
  std::span<const double> rest{elements};
  const auto depth = static_cast<std::size_t>(extents_[3]);
  for_each_row([&](std::size_t at) {
    store_row(precision_, rest.first(depth), &all[at]);
    rest = rest.subspan(depth);
  });
  TBENCH_CUDA_CHECK(cudaMemcpy(memory_->data(), all.data(), all.size(), cudaMemcpyHostToDevice));
}

std::vector<double> DeviceTensor::read() const {
  const std::vector<std::byte> all = bytes();
  std::vector<double> elements(static_cast<std::size_t>(extents_[0] * extents_[1] * extents_[2] * extents_[3]));
  std::span<double> rest{elements};
  const auto depth = static_cast<std::size_t>(extents_[3]);
  for_each_row([&](std::size_t at) {
    load_row(precision_, &all[at], rest.first(depth));
    rest = rest.subspan(depth);
  });
  return elements;
}

std::vector<std::byte> DeviceTensor::bytes() const {
  std::vector<std::byte> all(memory_->size());
  TBENCH_CUDA_CHECK(cudaMemcpy(all.data(), memory_->data(), all.size(), cudaMemcpyDeviceToHost));
  return all;
}

std::optional<std::string> DeviceTensor::overwritten_gap() const {
  std::vector<std::byte> all = bytes();
  const std::size_t row_bytes = static_cast<std::size_t>(extents_[3]) * element_bytes_;
  for_each_row([&](std::size_t at) { std::memset(&all[at], std::to_integer<int>(kPoison), row_bytes); });
  const auto bad = std::find_if(all.begin(), all.end(), [](std::byte b) { return b != kPoison; });
  if (bad == all.end()) return std::nullopt;
  return "byte " + std::to_string(bad - all.begin() - first_ * static_cast<std::int64_t>(element_bytes_)) +
         " from the first element was written to; it belongs to no element";
}

void fill_normal(void* data, std::int64_t count, Precision precision, std::uint64_t seed, cudaStream_t stream) {
  switch (precision) {
    case Precision::kBf16:
      return launch<__nv_bfloat16>(data, count, seed, stream);
    case Precision::kFp16:
      return launch<__half>(data, count, seed, stream);
    case Precision::kFp32:
    case Precision::kTf32:
      return launch<float>(data, count, seed, stream);
  }
}

}  // namespace tbench::kernels
