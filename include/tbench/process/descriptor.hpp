// Owners of file descriptors, and reads and writes that handle EINTR and a closed other end.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace tbench::process {

/// The only owner of a file descriptor. Closes it when destroyed, and logs a failure to close it.
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

  /// Returns the descriptor, or a negative number, which poll() ignores, if there is none.
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

/// Creates a pipe whose ends are closed on exec and never have the numbers of stdin, stdout or stderr.
/// @throws  std::system_error
[[nodiscard]] Pipe make_pipe();

/// @throws  std::system_error
void set_non_blocking(const UniqueDescriptor& descriptor);
/// Makes programs that this process executes not inherit `descriptor`.
/// @throws  std::system_error
void set_close_on_exec(const UniqueDescriptor& descriptor);

struct Transfer {
  /// `kEnd`: the other side has closed, and no byte was moved. `kWouldBlock`: no byte could be moved now.
  enum class State { kMoved, kWouldBlock, kEnd } state{};
  std::size_t bytes{};
};

/// Reads the bytes that are available, at most `buffer.size()`.
/// @throws  std::system_error  for any error except EINTR and EAGAIN
[[nodiscard]] Transfer read_some(int descriptor, std::span<char> buffer);

/// Writes as much of `bytes` as fits. If the reader is gone, returns `kEnd` and does not raise SIGPIPE.
/// @throws  std::system_error  for any error except EINTR, EAGAIN and EPIPE
[[nodiscard]] Transfer write_some(int descriptor, std::string_view bytes);

}  // namespace tbench::process
