#include "tbench/results/durable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "results/disk/replacement_file.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::results {
namespace {

constexpr mode_t kFileMode = 0666;  // minus the umask

[[noreturn]] void fail(const char* what, const std::string& path, int error = errno) {
  throw WriteError{what, path, error};
}

[[noreturn]] void fail_to_read(const char* what, const std::string& path, int error = errno) {
  throw std::system_error{error, std::generic_category(), fmt::format("cannot {} '{}'", what, path)};
}

process::UniqueDescriptor open_file(const std::string& path, int flags) {
  process::UniqueDescriptor file{::open(path.c_str(), flags | O_CLOEXEC, kFileMode)};
  if (!file) fail("open", path);
  return file;
}

void sync(int descriptor, const std::string& path) {
  if (::fsync(descriptor) != 0) fail("sync", path);
}

void check_size(std::size_t bytes, const std::string& path) {
  if (bytes <= kMaxContent) return;
  throw UsageError{fmt::format("'{}': more than {} bytes; give a smaller file", path, kMaxContent)};
}

/// Refuses a device, which may have no end, and a file that is too large.
void check_readable(int descriptor, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail_to_read("read", path);
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
    throw UsageError{fmt::format("'{}': not a regular file, but a device; give a file, or a pipe", path)};
  }
  if (S_ISREG(status.st_mode)) check_size(static_cast<std::size_t>(status.st_size), path);
}

/// Makes a new or renamed entry of a folder durable.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path{path}.parent_path().string();
  const process::UniqueDescriptor file = open_file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  sync(file.get(), folder);
}

/// Writes to a device or a FIFO itself, instead of replacing it.
void write_through(const std::string& path, std::string_view content) {
  const process::UniqueDescriptor file = open_file(path, O_WRONLY | O_NOCTTY);
  write_all(file.get(), content, path);
}

constexpr int kGzipWindow = 15 + 16;  // the largest window, in gzip's format instead of zlib's
/// A run packs its file again every few seconds. Level 9 takes three times as long, and its files are 4 % smaller.
constexpr int kLevel = 6;
constexpr int kMemoryLevel = 8;          // zlib's default
constexpr std::size_t kTrailer = 8;      // a member's last bytes: CRC and length
constexpr std::size_t kUsualRatio = 16;  // results shrink to a fifth or a seventh; the buffer grows as needed

/// Returns the largest part of `bytes` that fits zlib's 32-bit counters.
uInt next_part(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max() / 2));
}

Bytef* input_of(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

/// Unpacks one member of a file after the other.
class Inflater {
 public:
  Inflater(std::string_view packed, std::size_t most) : packed_{packed}, most_{most} {
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw std::runtime_error{"no memory to unpack it"};
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  /// Appends the next member's content.
  void append_member(std::string& content) {
    int status = Z_OK;
    while (status != Z_STREAM_END) {
      const std::string_view rest = packed_.substr(position_);
      if (used_ == content.size()) content.resize(std::clamp(content.size() * 2, kFirstBlock, most_ + kFirstBlock));
      stream_.next_in = input_of(rest);
      stream_.avail_in = next_part(rest.size());
      stream_.next_out = reinterpret_cast<Bytef*>(content.data() + used_);
      stream_.avail_out = next_part(content.size() - used_);
      const uInt in = stream_.avail_in;
      const uInt out = stream_.avail_out;
      status = inflate(&stream_, Z_NO_FLUSH);
      position_ += in - stream_.avail_in;
      used_ += out - stream_.avail_out;
      check(status, rest.empty());
      if (used_ > most_) throw UnpacksToTooMuch{fmt::format("the packed file unpacks to more than {} bytes", most_)};
    }
    inflateReset(&stream_);
  }

  [[nodiscard]] bool is_at_end() const { return position_ == packed_.size(); }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  static constexpr std::size_t kFirstBlock = std::size_t{1} << 16;

  void check(int status, bool is_out_of_input) const {
    if (status == Z_OK || status == Z_STREAM_END) return;
    if (status == Z_BUF_ERROR && is_out_of_input) {
      throw std::runtime_error{fmt::format("the packed file is cut off after {} bytes", packed_.size())};
    }
    if (status == Z_BUF_ERROR) return;  // the output was full
    if (status == Z_MEM_ERROR) throw std::runtime_error{"no memory to unpack it"};
    throw std::runtime_error{fmt::format("not gzip, or corrupt, at byte {} ({})", position_,
                                         stream_.msg == nullptr ? "unknown format" : stream_.msg)};
  }

  std::string_view packed_;
  std::size_t most_;
  z_stream stream_{};
  std::size_t position_{};  // in packed_
  std::size_t used_{};      // bytes of the content so far
};

/// Returns the number of bytes to allocate first: the last member's length from its trailer, limited by kUsualRatio,
/// since the trailer of a damaged file may have any value.
std::size_t expected_size(std::string_view packed) {
  if (packed.size() < kTrailer) return 0;
  std::size_t size = 0;
  for (std::size_t i = 1; i <= 4; ++i) size = size << 8U | static_cast<unsigned char>(packed[packed.size() - i]);
  return std::min(size, packed.size() * kUsualRatio) + kTrailer;  // the buffer is then not full before the member ends
}

}  // namespace

std::string without_links(const std::string& path) {
  constexpr int kMaxLinks = 40;  // the kernel's limit
  std::filesystem::path target{path};
  std::error_code no_link;
  for (int i = 0; i < kMaxLinks; ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(target, no_link);
    if (no_link) return target.string();
    target = target.parent_path() / next;
  }
  fail("follow the symbolic links of", path, ELOOP);
}

void write_atomically(const std::string& path, std::string_view content) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) fail("write", path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return write_through(path, content);
  }
  const std::string target = without_links(path);
  ReplacementFile replacement{target};
  replacement.write(content);
  replacement.replace();
  sync_folder_of(target);
}

std::string read_whole_file(const std::string& path) {
  const process::UniqueDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) fail_to_read("open", path);
  check_readable(file.get(), path);
  std::string content;
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  while (true) {
    const std::size_t size = content.size();
    content.resize(size + kBlock);
    const ssize_t count = ::read(file.get(), content.data() + size, kBlock);
    if (count < 0 && errno != EINTR) fail_to_read("read", path);
    content.resize(size + static_cast<std::size_t>(count < 0 ? 0 : count));
    if (count == 0) return content;
    check_size(content.size(), path);
  }
}

LineAppender::LineAppender(const std::string& path)
    : LineAppender{path, open_file(path, O_WRONLY | O_CREAT | O_APPEND)} {}

LineAppender::LineAppender(std::string path, process::UniqueDescriptor file)
    : path_{std::move(path)}, file_{std::move(file)} {
  if (::ftruncate(file_.get(), 0) != 0) fail("empty", path_);
  sync_folder_of(path_);
}

void LineAppender::append(std::string_view line) {
  const off_t end = ::lseek(file_.get(), 0, SEEK_END);
  if (end < 0) fail("append to", path_);
  try {
    write_all(file_.get(), std::string{line} + "\n", path_);
    sync(file_.get(), path_);
  } catch (const std::system_error&) {
    // Remove the torn line, which the next line would otherwise continue. If this fails, too, the journal's reader
    // reports the torn line.
    if (::ftruncate(file_.get(), end) != 0) fmt::print(stderr, "cannot take back a torn line of '{}'\n", path_);
    throw;
  }
}

bool is_packed_name(std::string_view path) { return path.ends_with(".gz"); }

bool is_packed(std::string_view content) { return content.starts_with("\x1f\x8b"); }

class Packer::Deflater {
 public:
  Deflater() {
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::runtime_error{"no memory to pack a file"};
    }
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream_); }

  void append(std::string_view content, bool is_last) {
    std::size_t position = 0;
    int status = Z_OK;
    while (is_last ? status != Z_STREAM_END : position < content.size()) {
      if (used_ == packed_.size()) packed_.resize(std::max<std::size_t>(packed_.size() * 2, kFirstBlock));
      const uInt in = next_part(content.size() - position);
      const uInt out = next_part(packed_.size() - used_);
      stream_.next_in = input_of(content.substr(position));
      stream_.avail_in = in;
      stream_.next_out = reinterpret_cast<Bytef*>(packed_.data() + used_);
      stream_.avail_out = out;
      status = deflate(&stream_, is_last && position + in == content.size() ? Z_FINISH : Z_NO_FLUSH);
      position += in - stream_.avail_in;
      used_ += out - stream_.avail_out;
      if (status != Z_OK && status != Z_BUF_ERROR && status != Z_STREAM_END) {
        throw std::runtime_error{"zlib cannot pack a file"};
      }
    }
  }

  [[nodiscard]] std::string take() && {
    packed_.resize(used_);
    return std::move(packed_);
  }

 private:
  static constexpr std::size_t kFirstBlock = std::size_t{1} << 16;

  z_stream stream_{};
  std::string packed_;
  std::size_t used_{};  // bytes of packed_ so far
};

Packer::Packer() : deflater_{std::make_unique<Deflater>()} {}
Packer::~Packer() = default;

void Packer::append(std::string_view content) { deflater_->append(content, false); }

std::string Packer::finish(std::string_view content) {
  deflater_->append(content, true);
  return std::move(*deflater_).take();
}

std::string pack(std::string_view content) { return Packer{}.finish(content); }

std::string unpack(std::string_view packed, std::size_t most) {
  if (packed.empty()) throw std::runtime_error{"the file is empty"};
  std::string content(std::min(expected_size(packed), most + 1), '\0');
  Inflater inflater{packed, most};
  while (!inflater.is_at_end()) inflater.append_member(content);
  content.resize(inflater.used());
  return content;
}

}  // namespace tbench::results
