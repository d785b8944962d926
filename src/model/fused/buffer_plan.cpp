#include "model/fused/buffer_plan.hpp"

#include <algorithm>
#include <stdexcept>

namespace tbench::model {
namespace {

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

}  // namespace

std::size_t BufferPlan::add(std::int64_t bytes, Lifetime lifetime) {
  if (bytes < 0 || lifetime.first < 0 || lifetime.last < lifetime.first) {
    throw std::invalid_argument{"BufferPlan: bytes are at least 0, and a lifetime does not end before it begins"};
  }
  buffers_.push_back({.bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment, .lifetime = lifetime, .offset = 0});
  return buffers_.size() - 1;
}

std::int64_t BufferPlan::lowest_free(const Buffer& buffer, const std::vector<const Buffer*>& placed) const {
  std::int64_t offset = 0;
  for (const Buffer* const other : placed) {  // in the order of their offsets
    if (!meet(buffer.lifetime, other->lifetime)) continue;
    if (other->offset >= offset + buffer.bytes) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

void BufferPlan::place() {
  std::vector<Buffer*> by_size;
  for (Buffer& buffer : buffers_) {
    if (buffer.bytes > 0) by_size.push_back(&buffer);
  }
  std::ranges::stable_sort(by_size, std::ranges::greater{}, &Buffer::bytes);
  std::vector<const Buffer*> placed;
  bytes_ = 0;
  for (Buffer* const buffer : by_size) {
    buffer->offset = lowest_free(*buffer, placed);
    placed.insert(std::ranges::upper_bound(placed, buffer->offset, {}, [](const Buffer* b) { return b->offset; }),
                  buffer);
    bytes_ = std::max(bytes_, buffer->offset + buffer->bytes);
  }
}

std::int64_t BufferPlan::live_bytes(std::int64_t moment) const {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (lives_at(i, moment)) bytes += buffers_[i].bytes;
  }
  return bytes;
}

std::int64_t BufferPlan::peak_moment() const {
  std::int64_t peak = 0;
  for (const Buffer& buffer : buffers_) {
    if (live_bytes(buffer.lifetime.first) > live_bytes(peak)) peak = buffer.lifetime.first;
  }
  return peak;
}

std::int64_t BufferPlan::least_bytes() const { return live_bytes(peak_moment()); }

bool BufferPlan::lives_at(std::size_t number, std::int64_t moment) const {
  const Lifetime& lifetime = buffers_.at(number).lifetime;
  return lifetime.first <= moment && moment <= lifetime.last;
}

}  // namespace tbench::model
