// A tensor [batch, heads, seq, head_dim] on the GPU for tests of kernels, in any layout, with guards around and between
// its elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tbench/cuda/error.hpp"
#include "tbench/kernels/attention.hpp"

namespace tbench::kernels {

/// Memory of the device.
class DeviceBytes {
 public:
  /// @throws  cuda::CudaError, OutOfMemory
  explicit DeviceBytes(std::size_t size);
  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { cuda::log_failure(cudaFree(memory)); }
  };
  std::size_t size_;
  std::unique_ptr<std::byte, Free> memory_;
};

enum class Layout {
  kContiguous,  // [batch, heads, seq, head_dim]
  kTransposed,  // [batch, seq, heads, head_dim]
  kPacked,      // one third of [batch, seq, 3, heads, head_dim]
  kUnaligned,   // contiguous except for a row stride of head_dim + 1, starting at an odd element
  kOneRow,      // one row for all: strides of 0, as the gradient of a sum has
  kOneBatch,    // contiguous except for a batch stride of 0
};

/// Returns the layout's name for a failed test: "packed", ...
[[nodiscard]] std::string to_string(Layout layout);

enum class Guard {
  kSurrounded,  // poisoned bytes before and after
  k3xTf32,      // nothing around, and in a layout without gaps no poison: for compute-sanitizer
};

class DeviceTensor {
 public:
  using Extents = std::array<std::int64_t, 4>;  // batch, heads, seq, head_dim

  /// Poisons the memory as poison() does if the memory holds anything besides the elements.
  DeviceTensor(const Extents& extents, Precision precision, Layout layout = Layout::kContiguous,
               Guard guard = Guard::kSurrounded);

  [[nodiscard]] const Extents& extents() const { return extents_; }
  [[nodiscard]] TensorView view() const;

  /// Fills all memory, gaps included, with bytes that make every element NaN.
  void poison();
  /// Stores elements given in the order of a contiguous tensor, rounded to the storage type. If several elements have
  /// one address, because a stride is 0, the last one is kept.
  void write(const std::vector<double>& elements);
  /// Returns elements in the order of a contiguous tensor.
  [[nodiscard]] std::vector<double> read() const;
  /// Returns the memory, gaps included.
  [[nodiscard]] std::vector<std::byte> bytes() const;
  /// Returns where a byte outside all elements is no longer poison; nothing if all are.
  [[nodiscard]] std::optional<std::string> overwritten_gap() const;

 private:
  [[nodiscard]] std::int64_t element_offset(const std::array<std::int64_t, 4>& index) const;
  /// Calls visit(byte offset) for each row of head_dim contiguous elements, in the order of a contiguous tensor.
  template <class Visit>
  void for_each_row(const Visit& visit) const;

  Extents extents_;
  Precision precision_;
  std::array<std::int64_t, 4> strides_{};  // in elements
  std::int64_t first_{};                   // offset of element [0, 0, 0, 0] in the memory, in elements
  std::size_t element_bytes_;
  std::unique_ptr<DeviceBytes> memory_;
};

/// Converts an element to the storage type of `precision`, and back.
void store_element(Precision precision, double value, std::byte* to);
[[nodiscard]] double load_element(Precision precision, const std::byte* from);

/// Enqueues a kernel that is fast enough to fill tensors for timing. It writes `count` standard normal numbers in the
/// storage type of `precision` from `data` on, which are the same for the same seed.
/// @throws  cuda::CudaError
void fill_normal(void* data, std::int64_t count, Precision precision, std::uint64_t seed, cudaStream_t stream);

}  // namespace tbench::kernels
