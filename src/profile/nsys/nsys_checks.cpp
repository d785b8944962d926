#include "profile/nsys/nsys_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "profile/nsys/nsys_commands.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kGpuTables{"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                     "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
constexpr std::array<std::string_view, 9> kReadTables{"CUPTI_ACTIVITY_KIND_KERNEL",
                                                      "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                      "CUPTI_ACTIVITY_KIND_MEMSET",
                                                      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                                      "CUPTI_ACTIVITY_KIND_RUNTIME",
                                                      "NVTX_EVENTS",
                                                      "StringIds",
                                                      "META_DATA_EXPORT",
                                                      "TARGET_INFO_GPU"};
constexpr std::size_t kTimedTables = 6;  // the first tables of kReadTables
constexpr std::string_view kKernelTable = kReadTables[0];

[[noreturn]] void refuse(const std::string& path, const std::string& problem, const std::string& remedy,
                         std::string next = kRecordAgain) {
  throw results::CorrectableError{fmt::format("'{}' {}. {}.", path, problem, remedy), std::move(next)};
}

/// Refuses the file with the command `next` as the remedy.
[[noreturn]] void refuse_with(const std::string& path, const std::string& problem, const std::string& next) {
  refuse(path, problem, fmt::format("Run '{}'", next), next);
}

/// Returns the command that exports `report` to `path` and shows it.
std::string export_command(const std::string& path, const std::string& report) {
  const std::vector<std::string> to{"-o", path, report};
  const std::vector<std::string> show{"tbench", "nsys", path};
  return fmt::format("{} {} && {}", kExportCommand, results::command_line(to), results::command_line(show));
}

bool is_report(const fs::path& path) { return path.extension() == ".nsys-rep" || path.extension() == ".qdrep"; }

/// Returns the command that exports a report again: the file itself if it is a report, otherwise the report from which
/// the file was made. Only a file that ends in .sqlite is replaced: any other may be something else, such as results.
std::string export_again(const std::string& path) {
  if (is_report(path)) return export_command(fs::path{path}.replace_extension(".sqlite").string(), path);
  const fs::path report = fs::path{path}.replace_extension(".nsys-rep");
  std::error_code error;
  const bool has_report = fs::exists(report, error);
  const bool is_export = fs::path{path}.extension() == ".sqlite";
  const fs::path out =
      is_export ? fs::path{path} : fs::path{has_report ? report : "REPORT"}.replace_extension(".sqlite");
  return export_command(out.string(), has_report ? report.string() : "REPORT.nsys-rep");
}

void check_readable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const auto refuse_it = [&](const char* problem) {
    refuse(path, problem, "Give a file that 'nsys export --type=sqlite' wrote", export_again("step.sqlite"));
  };
  if (!fs::exists(status)) refuse_it("does not exist");
  if (fs::is_directory(status)) refuse_it("is a folder");
  if (!fs::is_regular_file(status)) refuse_it("is a device or a pipe");
  if (!std::ifstream{path, std::ios::binary}) refuse_it("cannot be opened to read");
}

/// Returns a big-endian number of the database's header, or 0 if the header is too short.
std::uint64_t header_number(std::string_view header, std::size_t at, std::size_t bytes) {
  if (header.size() < at + bytes) return 0;
  std::uint64_t number = 0;
  for (const char c : header.substr(at, bytes)) number = number << 8U | static_cast<unsigned char>(c);
  return number;
}

/// Refuses files that SQLite would accept. SQLite takes an empty file for an empty database, and notices missing pages
/// only when it reads them. For the header, see https://www.sqlite.org/fileformat.html#the_database_header.
void check_kind(const std::string& path) {
  constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  std::ifstream file{path, std::ios::binary};
  std::array<char, 100> begin{};
  file.read(begin.data(), begin.size());
  const std::string_view header{begin.data(), static_cast<std::size_t>(file.gcount())};
  if (header.empty()) refuse_with(path, "is empty", export_again(path));
  if (is_report(path) && !header.starts_with(kMagic)) {
    refuse(path, "is a report",
           "First run '" + results::command_line({{"nsys", "export", "--type=sqlite", path}}) + "'",
           export_again(path));
  }
  if (!header.starts_with(kMagic)) {
    refuse_with(path, "is not an SQLite database", export_again(path));
  }
  const std::uint64_t stored_page_bytes = header_number(header, 16, 2);
  const std::uint64_t page_bytes = stored_page_bytes == 1 ? 65'536 : stored_page_bytes;
  const std::uint64_t pages = header_number(header, 28, 4);
  const bool is_counted = header_number(header, 24, 4) == header_number(header, 92, 4);  // the page count is valid
  const std::uint64_t whole = pages * page_bytes;
  if (header.size() < begin.size() || (is_counted && fs::file_size(path) < whole)) {
    refuse_with(
        path,
        fmt::format("is damaged, or its export was cut off: {} of {} bytes are there", fs::file_size(path), whole),
        export_again(path));
  }
}

std::string in_schema(const std::string& version) {
  return version.empty() ? "" : fmt::format(" (schema {})", version);
}

/// Returns the first names, such as `a, b, c, d and others`.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  constexpr std::size_t kMaxLength = 60;  // characters per name
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i > 0 ? ", " : "") + names[i].substr(0, kMaxLength);
  }
  return text + (names.size() > kShown ? " and others" : "");
}

/// Refuses a database with the tables of CUPTI activities that nvprof and other programs write.
void check_writer(const std::string& path, const NsysSchema& schema) {
  const std::vector<std::string> tables = schema.tables();
  const auto is_foreign = [](const std::string& table) {
    return table == "StringTable" || table == "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL";
  };
  const auto foreign = std::ranges::find_if(tables, is_foreign);
  if (foreign == tables.end()) return;
  refuse(path, fmt::format("is of nvprof or another program: it has the table {}, which nsys does not write", *foreign),
         "Record with 'nsys profile --trace=cuda,nvtx'");
}

void check_columns(const std::string& path, const NsysSchema& schema, const std::string& version) {
  const auto refuse_without = [&](std::string_view table, std::string_view column) {
    refuse(path, fmt::format("cannot be read: its table {} has no column '{}'{}", table, column, in_schema(version)),
           "Export the report with nsys 2023 to 2026", export_again(path));
  };
  for (std::size_t i = 0; i < kTimedTables; ++i) {
    const std::string table{kReadTables.at(i)};
    for (const char* column : {"start", "end"}) {
      if (schema.has(table) && !schema.has(table, column)) refuse_without(table, column);
    }
  }
  const std::string kernels{kKernelTable};
  const auto has = [&](const char* column) { return schema.has(kernels, column); };
  if (schema.has(kernels) && !has("demangledName") && !has("mangledName") && !has("shortName")) {
    refuse_without(kernels, "demangledName");
  }
}

std::ptrdiff_t launches_in(const Trace& trace) {
  constexpr std::array<std::string_view, 4> kLaunches{"cudaLaunchKernel", "cuLaunchKernel", "cudaGraphLaunch",
                                                      "cuGraphLaunch"};
  return std::ranges::count_if(trace.calls, [&](const ApiCall& call) {
    const auto begins = [&](std::string_view name) { return trace.names[call.name].starts_with(name); };
    return std::ranges::any_of(kLaunches, begins);
  });
}

}  // namespace

void check_nsys_file(const std::string& path) {
  check_readable(path);
  check_kind(path);
}

void check_nsys_tables(const std::string& path, const sqlite::Connection& connection, const NsysSchema& schema,
                       const std::string& version) {
  if (const auto active = sqlite::active_object(connection, kReadTables)) {
    refuse_with(path, fmt::format("has {}, which no export of nsys has", *active), export_again(path));
  }
  check_writer(path, schema);
  const auto is_there = [&](std::string_view table) { return schema.has(std::string{table}); };
  if (std::ranges::none_of(kGpuTables, is_there)) {
    const std::vector<std::string> tables = schema.tables();
    refuse(path,
           fmt::format("has no activity of a GPU: it lacks the table {}{}; its tables: {}", kKernelTable,
                       in_schema(version), tables.empty() ? "none" : some_of(tables)),
           "Record with 'nsys profile --trace=cuda,nvtx', and export the report with 'nsys export --type=sqlite'");
  }
  check_columns(path, schema, version);
}

void check_nsys_operations(const std::string& path, const Trace& trace, std::int64_t dropped_rows) {
  const std::string dropped = dropped_rows > 0 ? fmt::format(", rows that make no sense: {}", dropped_rows) : "";
  if (trace.operations.empty()) {
    refuse(path,
           fmt::format("holds no operation of a GPU (ranges: {}, CUDA calls: {}{})", trace.ranges.size(),
                       trace.calls.size(), dropped),
           "Record it with 'nsys profile --trace=cuda,nvtx'; with --capture-range, check that the program enters that "
           "range");
  }
  const auto is_kernel = [](const Operation& operation) {
    return operation.kind == OperationKind::kKernel || operation.kind == OperationKind::kGraph;
  };
  const std::ptrdiff_t launches = launches_in(trace);
  if (launches == 0 || std::ranges::any_of(trace.operations, is_kernel)) return;
  refuse(path,
         fmt::format("holds {} calls that launch kernels, and no kernel{}: they are not in {}", launches, dropped,
                     kKernelTable),
         "Record it again with 'nsys profile --trace=cuda,nvtx'");
}

void refuse_nsys_database(const std::string& path, const sqlite::SqliteError& error) {
  const char* const problem =
      error.code() == SQLITE_INTERRUPT ? "cannot be read" : "is damaged, or its export was cut off";
  refuse_with(path, fmt::format("{}: {}", problem, error.what()), export_again(path));
}

std::string newer_report(const std::string& path) {
  for (const char* ending : {".nsys-rep", ".qdrep"}) {
    const fs::path report = fs::path{path}.replace_extension(ending);
    std::error_code error;
    const auto reported = fs::last_write_time(report, error);
    if (error) continue;
    const auto exported = fs::last_write_time(path, error);
    if (error || exported >= reported) continue;
    const double seconds = std::chrono::duration<double>(reported - exported).count();
    return fmt::format("'{}' beside it, by {:.1f} s", report.filename().string(), seconds);
  }
  return "";
}

}  // namespace tbench::profile
