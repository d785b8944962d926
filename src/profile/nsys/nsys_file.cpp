#include "profile/nsys/nsys_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "tbench/core/error.hpp"

namespace tbench::profile {
namespace {

namespace fs = std::filesystem;

/// An export that nobody has renewed shows the numbers of an earlier run.
void check_age(const fs::path& path) {
  for (const char* ending : {".nsys-rep", ".qdrep"}) {
    const fs::path report = fs::path{path}.replace_extension(ending);
    std::error_code error;
    const auto reported = fs::last_write_time(report, error);
    if (error) continue;
    const auto exported = fs::last_write_time(path, error);
    if (error || exported >= reported) continue;
    throw UsageError{
        fmt::format("'{}' is older than '{}' beside it: it has the numbers of an earlier run; run '{} -o {} {}'",
                    path.string(), report.filename().string(), kExportCommand, path.string(), report.string())};
  }
}

/// A number of the database's header, whose bytes are in big-endian order.
std::uint64_t header_number(std::string_view header, std::size_t at, std::size_t bytes) {
  if (header.size() < at + bytes) return 0;
  std::uint64_t number = 0;
  for (const char c : header.substr(at, bytes)) number = number << 8U | static_cast<unsigned char>(c);
  return number;
}

/// What SQLite does not find wrong: it takes an empty file for an empty database, and misses lost pages only where it
/// needs them. The header: https://www.sqlite.org/fileformat.html#the_database_header
void check_kind(const std::string& path) {
  constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  std::ifstream file{path, std::ios::binary};
  std::array<char, 100> begin{};
  file.read(begin.data(), begin.size());
  const std::string_view header{begin.data(), static_cast<std::size_t>(file.gcount())};
  if (header.empty()) {
    throw UsageError{fmt::format("'{}' is empty; run '{} -o {} REPORT.nsys-rep'", path, kExportCommand, path)};
  }
  if (!header.starts_with(kMagic)) {
    throw UsageError{
        fmt::format("'{}' is not an SQLite database; give what '{} REPORT.nsys-rep' writes", path, kExportCommand)};
  }
  const std::uint64_t stored_page_bytes = header_number(header, 16, 2);
  const std::uint64_t page_bytes = stored_page_bytes == 1 ? 65'536 : stored_page_bytes;
  const std::uint64_t pages = header_number(header, 28, 4);
  const bool is_counted = header_number(header, 24, 4) == header_number(header, 92, 4);  // by this SQLite's writer
  const std::uint64_t whole = pages * page_bytes;
  if (header.size() < begin.size() || (is_counted && fs::file_size(path) < whole)) {
    throw UsageError{
        fmt::format("'{}' is damaged, or its export was cut off: {} of {} bytes; run '{} -o {} REPORT.nsys-rep'", path,
                    fs::file_size(path), whole, kExportCommand, path)};
  }
}

void check_readable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw UsageError{fmt::format("'{}': no such file; give an export of nsys", path)};
  if (fs::is_directory(status)) throw UsageError{fmt::format("'{}' is a folder; give an export of nsys", path)};
  if (!std::ifstream{path, std::ios::binary}) throw UsageError{fmt::format("'{}' cannot be opened to read", path)};
}

}  // namespace

void check_nsys_file(const std::string& path) {
  check_readable(path);
  check_age(path);
  check_kind(path);
}

}  // namespace tbench::profile
