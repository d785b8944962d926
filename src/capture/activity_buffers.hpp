// The memory into which CUPTI writes its activity records. CUPTI's buffer callbacks take no context argument, so that a
// process has only one set of buffers.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tbench::capture {

class ActivityBuffers {
 public:
  [[nodiscard]] static ActivityBuffers& of_process();

  /// Registers the buffers with CUPTI, which forgets them when it is removed from the process. Discards earlier
  /// records.
  /// @throws  std::runtime_error  if CUPTI refuses
  void attach();

  /// Allocates and zeroes `count` free buffers.
  void reserve(std::size_t count);
  /// Passes every record that CUPTI has completed to `use(const CUpti_Activity&)`, buffer by buffer. The buffers are
  /// then zeroed and kept for reuse: allocating eight takes 10 ms, as long as tracing a kernel does.
  /// @return  number of records for which CUPTI had no room
  template <class Use>
  std::size_t drain(const Use& use);
  /// Resets CUPTI's count of records that it had no room for and has not reported yet.
  static void forget_dropped();

 private:
  static constexpr std::size_t kBytes = std::size_t{4} << 20;
  static constexpr std::size_t kAlignment = 8;
  struct Free {
    void operator()(std::uint8_t* buffer) const { ::operator delete[](buffer, std::align_val_t{kAlignment}); }
  };
  using Buffer = std::unique_ptr<std::uint8_t[], Free>;
  struct Completed {
    Buffer buffer;
    std::size_t valid_bytes{};
    std::size_t dropped{};
  };

  [[nodiscard]] static Buffer make();
  static void CUPTIAPI on_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
  static void CUPTIAPI on_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                    std::size_t valid_bytes);
  [[nodiscard]] std::vector<Completed> take_completed();
  void give_back(Completed used);

  std::mutex mutex_;
  std::vector<Buffer> free_;
  std::vector<Completed> completed_;
};

template <class Use>
std::size_t ActivityBuffers::drain(const Use& use) {
  std::size_t dropped = 0;
  for (Completed& completed : take_completed()) {
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(completed.buffer.get(), completed.valid_bytes, &record) == CUPTI_SUCCESS) {
      use(*record);
    }
    dropped += completed.dropped;
    give_back(std::move(completed));
  }
  return dropped;
}

}  // namespace tbench::capture
