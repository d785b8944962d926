#include "results/disk/replacement_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "tbench/process/link_over.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::results {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0666;  // minus the umask
constexpr mode_t kPermissions = 07777;
constexpr int kTries = 100;

[[noreturn]] void fail(const char* what, const std::string& path, int error = errno) {
  throw WriteError{what, path, error};
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path{path}.parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Returns an unpredictable name, `.NAME.XXXXXXXX`, in the folder of the path.
std::string name_beside(const std::string& path) {
  std::random_device random;
  const fs::path target{path};
  return (target.parent_path() / fmt::format(".{}.{:08x}", target.filename().string(), random())).string();
}

}  // namespace

void write_all(int descriptor, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

ReplacementFile::ReplacementFile(std::string target, Kind kind) : target_{std::move(target)} {
  if (kind == Kind::kNamed || !open_unnamed()) open_named();
}

ReplacementFile::~ReplacementFile() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

/// @return  false if the file system does not support unnamed files
bool ReplacementFile::open_unnamed() {
  const std::string folder = folder_of(target_);
  file_ = process::UniqueDescriptor{::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kFileMode)};
  if (file_) return true;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOSYS) fail("open", target_);
  return false;
}

/// Starts a process that removes the file if the program is killed. Without such a process, the file is written all the
/// same.
void ReplacementFile::clean_up(const std::string& name) {
  try {
    cleaner_.emplace(name);
  } catch (const std::system_error&) {
    cleaner_.reset();
  }
}

void ReplacementFile::open_named() {
  for (int i = 0; i < kTries && !file_; ++i) {
    const std::string name = name_beside(target_);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    clean_up(name);
    file_ = process::UniqueDescriptor{::open(name.c_str(), kFlags, kFileMode)};
    const int error = file_ ? 0 : errno;
    if (file_) name_ = name;
    if (error == EEXIST && cleaner_) cleaner_->release();
    if (error != 0 && error != EEXIST) fail("open", target_, error);
  }
  if (!file_) fail("open", target_, EEXIST);
}

void ReplacementFile::write(std::string_view content) {
  write_all(file_.get(), content, target_);
  if (::fsync(file_.get()) != 0) fail("sync", target_);
}

void ReplacementFile::replace() {
  struct stat status {};
  if (::stat(target_.c_str(), &status) == 0 && ::fchmod(file_.get(), status.st_mode & kPermissions) != 0) {
    fail("give the permissions that it had to", target_);
  }
  const std::string own = fmt::format("/proc/self/fd/{}", file_.get());
  int error = EEXIST;
  if (!name_.empty()) error = ::rename(name_.c_str(), target_.c_str()) == 0 ? 0 : errno;
  for (int i = 0; i < kTries && name_.empty() && error == EEXIST; ++i) {
    error = process::link_over(own, name_beside(target_), target_);
  }
  if (error != 0) fail("replace", target_, error);
  name_.clear();
}

}  // namespace tbench::results
