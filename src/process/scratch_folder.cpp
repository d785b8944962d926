#include "tbench/process/scratch_folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace tbench::process {
namespace {

/// Removal is tried again, because processes that write to the folder may end a little later than this one.
constexpr int kTries = 50;
constexpr std::chrono::milliseconds kPause{20};

[[noreturn]] void fail(const std::string& what) { throw std::system_error{errno, std::generic_category(), what}; }

void remove(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return;
  std::error_code error;
  for (int i = 0; i < kTries; ++i) {
    std::filesystem::remove_all(path, error);
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return;
    std::this_thread::sleep_for(kPause);
  }
}

/// Waits for the end of the pipe, then removes the path unless it was released. Keeps no other descriptor, so that
/// readers of the parent's output do not wait for this process.
[[noreturn]] void keep(int pipe, const std::string& path) {
  ::setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  ::dup2(pipe, STDIN_FILENO);
  ::close_range(STDIN_FILENO + 1, ~0U, 0);
  char released{};
  ssize_t count = 0;
  do {
    count = ::read(STDIN_FILENO, &released, 1);
  } while (count < 0 && errno == EINTR);
  if (count == 0) remove(path);
  ::_exit(0);
}

std::string make_folder(const std::string& name) {
  std::string pattern = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) fail("cannot make a temporary folder '" + pattern + "'");
  return pattern;
}

}  // namespace

Cleaner::Cleaner(const std::string& path) {
  Pipe pipe = make_pipe();
  keeper_ = ::fork();
  if (keeper_ == 0) {
    pipe.write_end.reset();
    keep(pipe.read_end.get(), path);
  }
  if (keeper_ < 0) fail("fork");
  alive_ = std::move(pipe.write_end);
}

Cleaner::~Cleaner() {
  alive_.reset();
  while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Cleaner::release() { static_cast<void>(write_some(alive_.get(), "r")); }

ScratchFolder::ScratchFolder(const std::string& name) : path_{make_folder(name)}, cleaner_{path_} {}

}  // namespace tbench::process
