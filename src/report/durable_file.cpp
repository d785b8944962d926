#include "tbench/report/durable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tbench::report {
namespace {

constexpr mode_t kFileMode = 0666;  // less the umask

[[noreturn]] void fail(const char* what, const std::string& path, int error = errno) {
  throw std::system_error{error, std::generic_category(), fmt::format("cannot {} '{}'", what, path)};
}

/// Owns a file descriptor; -1 owns nothing.
class Descriptor {
 public:
  explicit Descriptor(int value) noexcept : value_{value} {}
  Descriptor(Descriptor&& other) noexcept : value_{std::exchange(other.value_, -1)} {}
  Descriptor& operator=(Descriptor other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  [[nodiscard]] int get() const noexcept { return value_; }
  [[nodiscard]] int release() noexcept { return std::exchange(value_, -1); }

 private:
  int value_;
};

Descriptor open_file(const std::string& path, int flags) {
  Descriptor file{::open(path.c_str(), flags | O_CLOEXEC, kFileMode)};
  if (file.get() < 0) fail("open", path);
  return file;
}

void write_all(int descriptor, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync(int descriptor, const std::string& path) {
  if (::fsync(descriptor) != 0) fail("sync", path);
}

/// Makes a new or renamed entry of a folder durable.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path{path}.parent_path().string();
  const Descriptor file = open_file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  sync(file.get(), folder);
}

void write_synced(const std::string& path, std::string_view content) {
  const Descriptor file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  write_all(file.get(), content, path);
  sync(file.get(), path);
}

}  // namespace

void write_atomically(const std::string& path, std::string_view content) {
  const std::string target = std::filesystem::weakly_canonical(path).string();
  const std::string temporary = target + ".tmp";
  try {
    write_synced(temporary, content);
    if (::rename(temporary.c_str(), target.c_str()) != 0) fail("replace", path);
  } catch (const std::system_error&) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder_of(target);
}

std::string read_whole_file(const std::string& path) {
  const Descriptor file = open_file(path, O_RDONLY);
  std::string content;
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  while (true) {
    const std::size_t size = content.size();
    content.resize(size + kBlock);
    const ssize_t count = ::read(file.get(), content.data() + size, kBlock);
    if (count < 0 && errno != EINTR) fail("read", path);
    content.resize(size + static_cast<std::size_t>(count < 0 ? 0 : count));
    if (count == 0) return content;
  }
}

LineAppender::LineAppender(std::string path) : path_{std::move(path)} {
  Descriptor file = open_file(path_, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  sync_folder_of(path_);
  descriptor_ = file.release();
}

LineAppender::~LineAppender() { ::close(descriptor_); }

void LineAppender::append(std::string_view line) {
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  if (end < 0) fail("append to", path_);
  try {
    write_all(descriptor_, std::string{line} + "\n", path_);
    sync(descriptor_, path_);
  } catch (const std::system_error&) {
    // Without this the next line would be glued to a torn one. If it fails too, reading reports the torn line.
    if (::ftruncate(descriptor_, end) != 0) fmt::print(stderr, "cannot take back a torn line of '{}'\n", path_);
    throw;
  }
}

}  // namespace tbench::report
