// The places of a step's buffers in one block of memory: buffers whose lifetimes do not meet may share bytes. Planned
// before the step runs, so that the bytes that it needs are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tbench::model {

/// Moments of a schedule are numbered from 0.
struct Lifetime {
  std::int64_t first{};  // the moment that writes the buffer
  std::int64_t last{};   // the last one that reads it, >= first
};

class BufferPlan {
 public:
  static constexpr std::int64_t kAlignment = 256;  // bytes, of every offset: what cuBLASLt asks for

  /// @return  number of the buffer
  /// @throws  std::invalid_argument  for negative bytes, or a lifetime that ends before it begins
  std::size_t add(std::int64_t bytes, Lifetime lifetime);
  /// Gives every buffer its offset: the largest first, each at the lowest offset that is free for all of its lifetime.
  /// @see  Pisarchyk and Lee (arXiv:2001.03288), greedy by size
  void place();

  /// The offset of buffer `number`, after place().
  [[nodiscard]] std::int64_t offset(std::size_t number) const { return buffers_.at(number).offset; }
  /// Bytes of the block, after place().
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Bytes of the buffers that live at the same moment, at the most: no plan needs fewer.
  [[nodiscard]] std::int64_t least_bytes() const;
  /// The moment at which the buffers that live have the most bytes.
  [[nodiscard]] std::int64_t peak_moment() const;
  /// Whether buffer `number` lives at that moment.
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
