#include "capture/activity_buffers.hpp"

#include <cstring>
#include <utility>

#include "capture/cupti_subscription.hpp"

namespace tbench::capture {

ActivityBuffers& ActivityBuffers::of_process() {
  static ActivityBuffers buffers;
  return buffers;
}

void ActivityBuffers::attach() {
  static_cast<void>(take_completed());
  // The buffers are zeroed here in advance, because CUPTI would zero them on the launching thread.
  std::uint8_t zeroed = 1;
  std::size_t size = sizeof(zeroed);
  check_cupti(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed),
              "cuptiActivitySetAttribute");
  check_cupti(cuptiActivityRegisterCallbacks(&on_requested, &on_completed), "cuptiActivityRegisterCallbacks");
}

ActivityBuffers::Buffer ActivityBuffers::make() {
  Buffer buffer{static_cast<std::uint8_t*>(::operator new[](kBytes, std::align_val_t{kAlignment}))};
  std::memset(buffer.get(), 0, kBytes);
  return buffer;
}

void ActivityBuffers::reserve(std::size_t count) {
  const std::lock_guard lock{mutex_};
  while (free_.size() < count) free_.push_back(make());
}

void ActivityBuffers::forget_dropped() {
  std::size_t dropped = 0;
  static_cast<void>(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped));
}

void ActivityBuffers::give_back(Completed used) {
  std::memset(used.buffer.get(), 0, kBytes);
  const std::lock_guard lock{mutex_};
  free_.push_back(std::move(used.buffer));
}

std::vector<ActivityBuffers::Completed> ActivityBuffers::take_completed() {
  const std::lock_guard lock{mutex_};
  return std::exchange(completed_, {});
}

/// Called on a launching thread.
void CUPTIAPI ActivityBuffers::on_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  ActivityBuffers& buffers = of_process();
  const std::lock_guard lock{buffers.mutex_};
  if (buffers.free_.empty()) buffers.free_.push_back(make());
  *buffer = buffers.free_.back().release();
  buffers.free_.pop_back();
  *size = kBytes;
  *max_records = 0;  // as many as fit
}

/// Called on a thread of CUPTI or on the thread that flushes. The records are read later.
void CUPTIAPI ActivityBuffers::on_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                            std::size_t /*size*/, std::size_t valid_bytes) {
  std::size_t dropped = 0;
  static_cast<void>(cuptiActivityGetNumDroppedRecords(context, stream, &dropped));
  ActivityBuffers& buffers = of_process();
  const std::lock_guard lock{buffers.mutex_};
  buffers.completed_.push_back({.buffer = Buffer{buffer}, .valid_bytes = valid_bytes, .dropped = dropped});
}

}  // namespace tbench::capture
