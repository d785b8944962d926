// Memory that CUPTI writes its activity records into. Its callbacks have no context, so that a process has one set.
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

  /// Registers them with CUPTI, which forgets them where it is taken out of the process, and forgets what it wrote.
  /// @throws  std::runtime_error  if CUPTI refuses
  void attach();

  /// Makes and zeroes so many buffers that are free.
  void reserve(std::size_t count);
  /// Hands every record that CUPTI has completed to `use(const CUpti_Activity&)`, buffer by buffer. Buffers are free
  /// and zeroed again afterwards, and stay: making eight takes 10 ms, as long as tracing a kernel does.
  /// @return  records that CUPTI had no room for
  template <class Use>
  std::size_t drain(const Use& use);
  /// Forgets the count of records that CUPTI had no room for and has not told yet.
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
