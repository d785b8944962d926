#include "profile/nsys/nsys_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
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

struct CopyKind {
  std::int64_t id;
  const char* name;
};
/// CUpti_ActivityMemcpyKind, and nsys's own for unified memory.
constexpr std::array kCopyKinds{CopyKind{1, "HtoD"},         CopyKind{2, "DtoH"},          CopyKind{3, "HtoA"},
                                CopyKind{4, "AtoH"},         CopyKind{5, "AtoA"},          CopyKind{6, "AtoD"},
                                CopyKind{7, "DtoA"},         CopyKind{8, "DtoD"},          CopyKind{9, "HtoH"},
                                CopyKind{10, "PtoP"},        CopyKind{11, "unified HtoD"}, CopyKind{12, "unified DtoH"},
                                CopyKind{13, "unified DtoD"}};

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

NsysSchema::NsysSchema(const sqlite::Connection& connection) {
  sqlite::Statement tables = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'");
  std::vector<std::string> names;
  while (tables.step()) names.push_back(tables.text(0));
  for (const std::string& name : names) {
    sqlite::Statement columns = connection.prepare("SELECT name FROM pragma_table_info(?)");
    columns.bind(std::string_view{name});
    while (columns.step()) columns_[name].insert(columns.text(0));
  }
}

bool NsysSchema::has(const std::string& table, const std::string& column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() && found->second.contains(column);
}

std::string NsysSchema::column(const std::string& table, const std::string& column,
                               const std::string& otherwise) const {
  return has(table, column) ? fmt::format("\"{}\"", column) : otherwise;
}

Index NsysNames::of_id(std::int64_t id) {
  if (id == last_id_ && last_index_ != kNone) return last_index_;
  const auto [found, is_new] = by_id_.try_emplace(id, static_cast<Index>(names_.size()));
  if (is_new) names_.push_back(fmt::format("(name {})", id));
  last_id_ = id;
  last_index_ = found->second;
  return found->second;
}

Index NsysNames::of_text(const std::string& text) {
  const auto [found, is_new] = by_text_.try_emplace(text, static_cast<Index>(names_.size()));
  if (is_new) names_.push_back(text);
  return found->second;
}

void NsysNames::read(const sqlite::Connection& connection, const NsysSchema& schema) {
  if (!schema.has("StringIds", "id") || !schema.has("StringIds", "value")) return;
  sqlite::Statement rows = connection.prepare("SELECT id, value FROM StringIds");
  while (rows.step()) {
    const auto found = by_id_.find(rows.integer(0));
    if (found != by_id_.end()) names_[found->second] = rows.text(1);
  }
}

std::string without_version(std::string name) {
  const std::size_t suffix = name.rfind("_v");
  const bool is_version = suffix != std::string::npos && suffix + 2 < name.size() &&
                          name.find_first_not_of("0123456789", suffix + 2) == std::string::npos;
  if (is_version) name.resize(suffix);
  return name;
}

std::string nsys_copy_name(std::int64_t kind) {
  const auto known = std::ranges::find(kCopyKinds, kind, &CopyKind::id);
  return known != kCopyKinds.end() ? fmt::format("Memcpy {}", known->name) : fmt::format("Memcpy (kind {})", kind);
}

void check_nsys_file(const std::string& path) {
  check_readable(path);
  check_age(path);
  check_kind(path);
}

}  // namespace tbench::profile
