// Owners of file descriptors, and reads and writes that live through EINTR and a partner that is gone.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace tbench::process {

/// The one owner of a file descriptor. Closes it when destroyed; a failure of that is logged.
class UniqueDescriptor {
 public:
  UniqueDescriptor() = default;
  explicit UniqueDescriptor(int descriptor) noexcept : descriptor_{descriptor} {}
  UniqueDescriptor(UniqueDescriptor&& other) noexcept : descriptor_{std::exchange(other.descriptor_, kNone)} {}
  UniqueDescriptor& operator=(UniqueDescriptor other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~UniqueDescriptor() { reset(); }

  /// The descriptor; negative (which poll() passes over) if there is none.
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] explicit operator bool() const noexcept { return descriptor_ != kNone; }
  void reset() noexcept;

 private:
  static constexpr int kNone = -1;
  int descriptor_{kNone};
};

struct Pipe {
  UniqueDescriptor read_end;
  UniqueDescriptor write_end;
};

/// A pipe whose ends are closed on exec and never get the numbers of stdin, stdout or stderr.
/// @throws  std::system_error
[[nodiscard]] Pipe make_pipe();

/// @throws  std::system_error
void set_non_blocking(const UniqueDescriptor& descriptor);
/// Keeps `descriptor` from programs that this process executes.
/// @throws  std::system_error
void set_close_on_exec(const UniqueDescriptor& descriptor);

struct Transfer {
  /// `kEnd`: the other side has closed; no byte was moved. `kWouldBlock`: none could be moved now.
  enum class State { kMoved, kWouldBlock, kEnd } state{};
  std::size_t bytes{};
};

/// Reads what there is, at most `buffer.size()` bytes.
/// @throws  std::system_error  for anything but an interruption, a block or the end
[[nodiscard]] Transfer read_some(int descriptor, std::span<char> buffer);

/// Writes as much of `bytes` as fits. A reader that is gone is `kEnd`: SIGPIPE is kept from the process.
/// @throws  std::system_error  for anything but an interruption, a block or the end
[[nodiscard]] Transfer write_some(int descriptor, std::string_view bytes);

}  // namespace tbench::process
