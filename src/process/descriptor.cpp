#include "tbench/process/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <system_error>

namespace tbench::process {
namespace {

constexpr int kFirstFreeDescriptor = STDERR_FILENO + 1;

[[noreturn]] void throw_errno(const char* call) { throw std::system_error{errno, std::generic_category(), call}; }

/// Moves a descriptor above the numbers of the standard streams. A process that was started with a standard stream
/// closed gets low descriptors for new files, which a child's redirections would overwrite.
UniqueDescriptor above_standard_streams(UniqueDescriptor descriptor) {
  if (descriptor.get() >= kFirstFreeDescriptor) return descriptor;
  const int duplicate = fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kFirstFreeDescriptor);
  if (duplicate < 0) throw_errno("fcntl(F_DUPFD_CLOEXEC)");
  return UniqueDescriptor{duplicate};
}

void add_flag(const UniqueDescriptor& descriptor, int get_command, int set_command, int flag) {
  const int flags = fcntl(descriptor.get(), get_command);
  if (flags < 0) throw_errno("fcntl");
  if (fcntl(descriptor.get(), set_command, flags | flag) < 0) throw_errno("fcntl");
}

/// Blocks SIGPIPE for the calling thread, and discards a SIGPIPE that this thread's write has caused. A pipe has no
/// MSG_NOSIGNAL, and ignoring the signal for good would change what `program | head` does.
class SigpipeGuard {
 public:
  SigpipeGuard() noexcept {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &mask_before_);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;
  ~SigpipeGuard() {
    const timespec at_once{};
    while (!was_pending_ && sigtimedwait(&sigpipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }

 private:
  sigset_t sigpipe_;
  sigset_t mask_before_;
  bool was_pending_{};
};

/// Repeats `call` (read or write) until no signal interrupts it, and returns its result.
template <class Call>
Transfer transfer(const Call& call, const char* name) {
  ssize_t moved = 0;
  do {
    moved = call();
  } while (moved < 0 && errno == EINTR);
  if (moved >= 0) return {Transfer::State::kMoved, static_cast<std::size_t>(moved)};
  if (errno == EAGAIN || errno == EWOULDBLOCK) return {Transfer::State::kWouldBlock, 0};
  if (errno == EPIPE) return {Transfer::State::kEnd, 0};
  throw_errno(name);
}

}  // namespace

void UniqueDescriptor::reset() noexcept {
  if (descriptor_ != kNone && ::close(descriptor_) != 0) std::perror("close");
  descriptor_ = kNone;
}

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe2");
  Pipe pipe{UniqueDescriptor{ends[0]}, UniqueDescriptor{ends[1]}};
  pipe.read_end = above_standard_streams(std::move(pipe.read_end));
  pipe.write_end = above_standard_streams(std::move(pipe.write_end));
  return pipe;
}

void set_non_blocking(const UniqueDescriptor& descriptor) { add_flag(descriptor, F_GETFL, F_SETFL, O_NONBLOCK); }

void set_close_on_exec(const UniqueDescriptor& descriptor) { add_flag(descriptor, F_GETFD, F_SETFD, FD_CLOEXEC); }

Transfer read_some(int descriptor, std::span<char> buffer) {
  const Transfer result = transfer([&] { return ::read(descriptor, buffer.data(), buffer.size()); }, "read");
  const bool at_end = result.state == Transfer::State::kMoved && result.bytes == 0;
  return at_end ? Transfer{Transfer::State::kEnd, 0} : result;
}

Transfer write_some(int descriptor, std::string_view bytes) {
  const SigpipeGuard guard;
  return transfer([&] { return ::write(descriptor, bytes.data(), bytes.size()); }, "write");
}

}  // namespace tbench::process
