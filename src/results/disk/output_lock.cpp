#include "tbench/results/output_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::results {
namespace {

constexpr mode_t kFileMode = 0666;  // minus the umask
/// Attempts at a lock, and the pause between them: a command that only checks for a writer (refuse_locked) also holds
/// the lock for a moment.
constexpr int kTries = 5;
constexpr std::chrono::milliseconds kPause{20};

/// Returns the PID in a line of /proc/locks, or nullopt if the line is not a held flock on the file. The format is
/// `1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF`, with the device in hexadecimal. For some file systems this
/// device differs from the one that stat() gives.
std::optional<std::string> holder_in(const std::string& line, const struct stat& file, bool is_device_compared) {
  std::istringstream words{line};
  std::string number, kind, strictness, mode, pid, place;
  if (!(words >> number >> kind >> strictness >> mode >> pid >> place) || kind != "FLOCK") return std::nullopt;
  const std::string device = fmt::format("{:02x}:{:02x}:", major(file.st_dev), minor(file.st_dev));
  if (!place.ends_with(fmt::format(":{}", file.st_ino))) return std::nullopt;
  return is_device_compared && !place.starts_with(device) ? std::nullopt : std::optional{pid};
}

/// Returns `process PID` of the lock's holder, or `another process` if the kernel does not tell the PID.
std::string holder_of(int descriptor) {
  struct stat file {};
  if (::fstat(descriptor, &file) != 0) return "another process";
  for (const bool is_device_compared : {true, false}) {
    std::ifstream locks{"/proc/locks"};
    for (std::string line; std::getline(locks, line);) {
      if (const auto pid = holder_in(line, file, is_device_compared); pid && *pid != "0") return "process " + *pid;
    }
  }
  return "another process";
}

[[noreturn]] void refuse(const std::string& path, int journal, const std::string& flag) {
  throw UsageError{
      fmt::format("'{}': {} is writing it. Wait for it, or name another {}.", path, holder_of(journal), flag)};
}

/// Takes the lock.
/// @return  0, EWOULDBLOCK if another process has the lock, or the error of a file system without locks
int lock(int descriptor, int how) {
  for (int i = 0;; ++i) {
    if (::flock(descriptor, how | LOCK_NB) == 0) return 0;
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK || i + 1 >= kTries) return errno;
    std::this_thread::sleep_for(kPause);
  }
}

/// Returns whether the file still has its name: the process that had the lock may have removed it meanwhile.
bool has_name(int descriptor, const std::string& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

process::UniqueDescriptor open_journal(const std::string& path) {
  // Symbolic links are refused, because the journal is emptied, and the target of a link must not be.
  constexpr int kFlags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  process::UniqueDescriptor file{::open(path.c_str(), kFlags, kFileMode)};
  if (!file) throw UsageError{fmt::format("--benchmark_out: {}", WriteError{"open", path, errno}.what())};
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return file;
  throw UsageError{fmt::format("'{}': it is not a regular file. Remove it, or name another --benchmark_out.", path)};
}

}  // namespace

std::string journal_path(const std::string& path) { return without_links(path) + ".journal"; }

OutputLock::OutputLock(std::string path) : path_{std::move(path)} {
  const std::string name = journal_path(path_);
  while (true) {
    process::UniqueDescriptor file = open_journal(name);
    const int error = lock(file.get(), LOCK_EX);
    if (error == EWOULDBLOCK) refuse(path_, file.get(), "--benchmark_out");
    if (error != 0) {
      fmt::print(stderr, "note: '{}': its file system has no locks ({}). Start no second run with this output.\n", name,
                 std::generic_category().message(error));
    } else if (!has_name(file.get(), name)) {
      continue;
    }
    is_locked_ = error == 0;
    journal_ = std::move(file);
    return;
  }
}

OutputLock::~OutputLock() {
  struct stat status {};
  if (!journal_ || !is_locked_ || ::fstat(journal_.get(), &status) != 0 || status.st_size > 0) return;
  const std::string name = journal_path(path_);
  if (has_name(journal_.get(), name)) ::unlink(name.c_str());
}

process::UniqueDescriptor OutputLock::journal() const {
  process::UniqueDescriptor copy{::fcntl(journal_.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  if (!copy) throw WriteError{"open", journal_path(path_), errno};
  return copy;
}

void refuse_locked(const std::string& path, const std::string& flag) {
  const std::string name = journal_path(path);
  const process::UniqueDescriptor file{::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (file && lock(file.get(), LOCK_SH) == EWOULDBLOCK) refuse(path, file.get(), flag);
}

}  // namespace tbench::results
