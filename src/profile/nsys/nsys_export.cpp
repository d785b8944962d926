#include "tbench/profile/nsys_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "profile/nsys/nsys_checks.hpp"
#include "profile/nsys/nsys_schema.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/sqlite/sqlite.hpp"

namespace tbench::profile {
namespace {

constexpr std::int64_t kKnownMajorVersion = 3;
constexpr std::int64_t kProcessMask = ~std::int64_t{0xFFFFFF};  // selects the globalPid of a globalTid
constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;      // beyond any clock since 1970
constexpr std::int64_t kMaxDurationNs = std::int64_t{1} << 50;  // 13 days
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;
constexpr std::int64_t kMaxProcesses = 0xFFFF;
constexpr int kPushPopRange = 59;  // NVTX_EVENTS.eventType
constexpr int kStartEndRange = 60;

class Reader {
 public:
  Reader(const std::string& path, const sqlite::Connection& connection)
      : path_{path}, connection_{connection}, schema_{connection}, names_{export_.trace.names} {
    max_rows_ = static_cast<std::int64_t>(std::filesystem::file_size(path)) / kMinRowBytes;
  }

  NsysExport read() {
    read_version();
    check_nsys_tables(path_, connection_, schema_, export_.schema_version);
    read_kernels();
    read_copies("CUPTI_ACTIVITY_KIND_MEMCPY", OperationKind::kMemcpy);
    read_copies("CUPTI_ACTIVITY_KIND_MEMSET", OperationKind::kMemset);
    read_graphs();
    read_calls();
    read_ranges();
    names_.read(connection_, schema_);
    check_nsys_operations(path_, export_.trace, export_.dropped_rows);
    merge_call_names();
    order_operations();
    read_gpus();
    return std::move(export_);
  }

 private:
  static constexpr std::int64_t kMinRowBytes = 12;  // lower bound for all rows that are read: their times need more

  void read_version() {
    if (!schema_.has("META_DATA_EXPORT", "name") || !schema_.has("META_DATA_EXPORT", "value")) return;
    export_.schema_version =
        connection_.text("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'");
    const auto major = parse_integer(export_.schema_version.substr(0, export_.schema_version.find('.')));
    export_.is_known_schema = !major || *major <= kKnownMajorVersion;
  }

  /// Returns the number of rows for which memory is reserved: the last rowid of `table`, limited by the file's size.
  [[nodiscard]] std::size_t expected_rows(const std::string& table) const {
    const std::int64_t last = connection_.integer(fmt::format("SELECT max(rowid) FROM \"{}\"", table));
    return static_cast<std::size_t>(std::clamp<std::int64_t>(last, 0, max_rows_));
  }

  bool drops(const sqlite::Statement& row, std::int64_t end_ns) {
    const std::int64_t start_ns = row.integer(0);
    const bool is_sane = row.is_integer(0) && start_ns > -kMaxTimeNs && end_ns < kMaxTimeNs && end_ns >= start_ns &&
                         end_ns - start_ns <= kMaxDurationNs;
    export_.dropped_rows += is_sane ? 0 : 1;
    return !is_sane;
  }

  /// Returns the end of an operation, or INT64_MIN if the value is not an integer.
  [[nodiscard]] static std::int64_t end_of(const sqlite::Statement& row) {
    return row.is_integer(1) ? row.integer(1) : INT64_MIN;
  }

  std::uint16_t process_of(std::int64_t global_pid) {
    const auto found = processes_.find(global_pid);
    if (found != processes_.end()) return found->second;
    const auto count = static_cast<std::int64_t>(processes_.size());
    if (count > kMaxProcesses) {
      throw UsageError{fmt::format("'{}' has over {} processes. Record fewer of them.", path_, kMaxProcesses)};
    }
    return processes_[global_pid] = static_cast<std::uint16_t>(count);
  }

  /// Returns the index of a thread, which is added if it is new. If the tables of operations have no processes, all
  /// threads belong to a single process.
  Index thread_of(std::int64_t global_tid) {
    const auto [found, is_new] = threads_.try_emplace(global_tid, static_cast<Index>(export_.trace.threads.size()));
    if (is_new) {
      const std::uint16_t process = process_of(has_processes_ ? global_tid & kProcessMask : 0);
      export_.trace.threads.push_back({.process = process, .id = static_cast<std::uint64_t>(global_tid)});
    }
    return found->second;
  }

  /// Returns the columns that all tables of operations share: start, end, device, stream, correlation and process.
  [[nodiscard]] std::string common_columns(const std::string& table) const {
    return fmt::format("start, \"end\", {}, {}, {}, {}", schema_.column(table, "deviceId", "0"),
                       schema_.column(table, "streamId", "0"), schema_.column(table, "correlationId", "0"),
                       schema_.column(table, "globalPid", "0"));
  }
  static constexpr int kCommonColumns = 6;

  std::optional<Operation> operation_of(const sqlite::Statement& row, OperationKind kind) {
    const std::int64_t device = row.integer(2);
    if (drops(row, end_of(row))) return std::nullopt;
    if (device < 0 || device > kMaxProcesses) {
      ++export_.dropped_rows;
      return std::nullopt;
    }
    return Operation{.start_ns = row.integer(0),
                     .end_ns = row.integer(1),
                     .correlation = static_cast<std::uint32_t>(row.integer(4)),
                     .stream = static_cast<std::uint32_t>(row.integer(3)),
                     .process = process_of(row.integer(5)),
                     .device = static_cast<std::uint16_t>(device),
                     .kind = kind};
  }

  void read_kernels() {
    const std::string table = "CUPTI_ACTIVITY_KIND_KERNEL";
    if (!schema_.has(table)) return;
    has_processes_ = schema_.has(table, "globalPid");
    const std::string name = schema_.column(
        table, "demangledName", schema_.column(table, "mangledName", schema_.column(table, "shortName", "-1")));
    export_.trace.operations.reserve(expected_rows(table));
    sqlite::Statement row = connection_.prepare(fmt::format("SELECT {}, {}, {} FROM {}", common_columns(table), name,
                                                            schema_.column(table, "graphNodeId", "0"), table));
    while (row.step()) {
      auto operation = operation_of(row, OperationKind::kKernel);
      if (!operation) continue;
      operation->name = names_.of_id(row.integer(kCommonColumns));
      operation->graph_node = static_cast<std::uint64_t>(row.integer(kCommonColumns + 1));
      export_.trace.operations.push_back(*operation);
    }
  }

  void read_copies(const std::string& table, OperationKind kind) {
    if (!schema_.has(table)) return;
    has_processes_ = has_processes_ || schema_.has(table, "globalPid");
    sqlite::Statement row = connection_.prepare(
        fmt::format("SELECT {}, {}, {}, {} FROM {}", common_columns(table), schema_.column(table, "bytes", "0"),
                    schema_.column(table, "copyKind", "0"), schema_.column(table, "graphNodeId", "0"), table));
    while (row.step()) {
      auto operation = operation_of(row, kind);
      if (!operation) continue;
      operation->bytes = std::clamp<std::int64_t>(row.integer(kCommonColumns), 0, kMaxBytes);
      operation->graph_node = static_cast<std::uint64_t>(row.integer(kCommonColumns + 2));
      operation->name = kind == OperationKind::kMemset
                            ? names_.of_text("Memset")
                            : names_.of_text(nsys_copy_name(row.integer(kCommonColumns + 1)));
      export_.trace.operations.push_back(*operation);
    }
  }

  /// Reads the rows that nsys writes for CUDA graphs by default, instead of their kernels.
  void read_graphs() {
    const std::string table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    if (!schema_.has(table)) return;
    has_processes_ = has_processes_ || schema_.has(table, "globalPid");
    sqlite::Statement row = connection_.prepare(
        fmt::format("SELECT {}, {} FROM {}", common_columns(table), schema_.column(table, "graphId", "NULL"), table));
    while (row.step()) {
      auto operation = operation_of(row, OperationKind::kGraph);
      if (!operation) continue;
      operation->name = names_.of_text(
          row.is_null(kCommonColumns) ? "CUDA graph" : fmt::format("CUDA graph {}", row.integer(kCommonColumns)));
      export_.trace.operations.push_back(*operation);
    }
  }

  void read_calls() {
    const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";  // nsys puts the driver's calls there too
    if (!schema_.has(table)) return;
    export_.trace.calls.reserve(expected_rows(table));
    sqlite::Statement row = connection_.prepare(
        fmt::format("SELECT start, \"end\", {}, {}, {} FROM {}", schema_.column(table, "globalTid", "0"),
                    schema_.column(table, "correlationId", "0"), schema_.column(table, "nameId", "-1"), table));
    while (row.step()) {
      if (drops(row, end_of(row))) continue;
      export_.trace.calls.push_back({.start_ns = row.integer(0),
                                     .end_ns = row.integer(1),
                                     .name = names_.of_id(row.integer(4)),
                                     .thread = thread_of(row.integer(2)),
                                     .correlation = static_cast<std::uint32_t>(row.integer(3))});
    }
  }

  /// Reads the ranges. A range without an end was still open when the capture ended, so it ends with the last captured
  /// event.
  void read_ranges() {
    const std::string table = "NVTX_EVENTS";
    if (!schema_.has(table)) return;
    const std::string type = schema_.has(table, "eventType")
                                 ? fmt::format(" WHERE eventType IN ({}, {})", kPushPopRange, kStartEndRange)
                                 : "";
    sqlite::Statement row = connection_.prepare(fmt::format(
        "SELECT start, \"end\", {}, {}, substr({}, 1, {}), {} FROM {}{}", schema_.column(table, "globalTid", "0"),
        schema_.column(table, "textId", "NULL"), schema_.column(table, "text", "NULL"), kMaxNameLength,
        schema_.column(table, "eventType", "0"), table, type));
    const std::int64_t capture_end_ns = last_end_ns();
    while (row.step()) {
      const std::int64_t start_ns = row.integer(0);
      const std::int64_t end_ns = row.is_null(1) ? std::max(start_ns, capture_end_ns) : end_of(row);
      if (drops(row, end_ns)) continue;
      const Index name = row.is_null(3) ? names_.of_text(row.text(4)) : names_.of_id(row.integer(3));
      export_.trace.ranges.push_back({.start_ns = start_ns,
                                      .end_ns = end_ns,
                                      .name = name,
                                      .thread = thread_of(row.integer(2)),
                                      .is_of_process = row.integer(5) == kStartEndRange});
    }
  }

  [[nodiscard]] std::int64_t last_end_ns() const {
    std::int64_t last = -kMaxTimeNs;
    for (const Operation& operation : export_.trace.operations) last = std::max(last, operation.end_ns);
    for (const ApiCall& call : export_.trace.calls) last = std::max(last, call.end_ns);
    return last;
  }

  /// Merges the names of a call's versions (`cudaLaunchKernel_v7000`), which nsys distinguishes and the tables of a
  /// profile do not.
  void merge_call_names() {
    std::vector<Index> merged(export_.trace.names.size(), kNone);
    for (ApiCall& call : export_.trace.calls) {
      const Index name = call.name;
      if (merged[name] == kNone) merged[name] = names_.of_text(without_version(export_.trace.names[name]));
      call.name = merged[name];
    }
  }

  void order_operations() {
    auto& operations = export_.trace.operations;
    const auto before = [](const Operation& a, const Operation& b) {
      if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
      if (a.end_ns != b.end_ns) return a.end_ns < b.end_ns;
      return a.correlation < b.correlation;
    };
    if (!std::ranges::is_sorted(operations, before)) std::ranges::sort(operations, before);
  }

  void read_gpus() {
    if (!schema_.has("TARGET_INFO_GPU", "name")) return;
    sqlite::Statement row = connection_.prepare("SELECT DISTINCT name FROM TARGET_INFO_GPU");
    while (row.step()) export_.gpus.push_back(row.text(0));
  }

  const std::string& path_;
  const sqlite::Connection& connection_;
  NsysSchema schema_;
  NsysExport export_;
  NsysNames names_;
  std::int64_t max_rows_{};
  bool has_processes_{};
  std::unordered_map<std::int64_t, std::uint16_t> processes_;
  std::unordered_map<std::int64_t, Index> threads_;
};

}  // namespace

NsysExport read_nsys_export(const std::string& path) {
  check_nsys_file(path);
  try {
    const sqlite::Connection connection{path, sqlite::Connection::Mode::kReadImmutable, Seconds{0}};
    NsysExport read = Reader{path, connection}.read();
    read.newer_report = newer_report(path);
    return read;
  } catch (const sqlite::SqliteError& error) {
    refuse_nsys_database(path, error);
  }
}

}  // namespace tbench::profile
