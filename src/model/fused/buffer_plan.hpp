// The offsets of a step's buffers in one block of memory, in which buffers whose lifetimes do not overlap may share
// bytes. Planned before the step runs, so that the memory that it needs is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tbench::model {

/// The lifetime of a buffer, in moments of a schedule, which are numbered from 0.
struct Lifetime {
  std::int64_t first{};  // the moment that writes the buffer
  std::int64_t last{};   // the last moment that reads it, >= first
};

class BufferPlan {
 public:
  static constexpr std::int64_t kAlignment = 256;  // bytes, for every offset; cuBLASLt requires it

  /// Adds a buffer to the plan.
  /// @return  number of the buffer
  /// @throws  std::invalid_argument  for negative bytes, or a lifetime that ends before it begins
  std::size_t add(std::int64_t bytes, Lifetime lifetime);
  /// Assigns an offset to every buffer: the largest buffer first, each at the lowest offset that is free for its whole
  /// lifetime.
  /// @see  Pisarchyk and Lee (arXiv:2001.03288), greedy by size
  void place();

  /// Returns the offset of buffer `number`, after place().
  [[nodiscard]] std::int64_t offset(std::size_t number) const { return buffers_.at(number).offset; }
  /// Returns the bytes of the block, after place().
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Returns the largest number of bytes that are live at the same moment: no plan needs fewer.
  [[nodiscard]] std::int64_t least_bytes() const;
  /// Returns the moment at which the live buffers have the most bytes.
  [[nodiscard]] std::int64_t peak_moment() const;
  /// Returns whether buffer `number` is live at that moment.
  [[nodiscard]] bool lives_at(std::size_t number, std::int64_t moment) const;

 private:
  struct Buffer {
    std::int64_t bytes{};  // a multiple of the alignment
    Lifetime lifetime;
    std::int64_t offset{};
  };
  [[nodiscard]] std::int64_t live_bytes(std::int64_t moment) const;
  [[nodiscard]] std::int64_t lowest_free(const Buffer& buffer, const std::vector<const Buffer*>& placed) const;

  std::vector<Buffer> buffers_;
  std::int64_t bytes_{};
};

}  // namespace tbench::model
