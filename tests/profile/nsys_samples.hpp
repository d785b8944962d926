// Makes exports as nsys of several years writes them, with the trace of one_step() in microseconds.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>

#include "profile/trace_samples.hpp"
#include "tbench/profile/trace.hpp"
#include "tbench/sqlite/sqlite.hpp"

namespace tbench::profile {

/// The differences of exports between versions of nsys, from each version's schema reference and from published
/// exports.
struct NsysVersion {
  const char* name;
  const char* schema;  // EXPORT_SCHEMA_VERSION; empty: no META_DATA_EXPORT
  bool has_processes;  // globalPid of operations
  bool has_graph_nodes;
  bool has_green_contexts;
  bool has_registered_strings;  // ranges have only a textId
  bool has_versioned_calls;     // cudaLaunchKernel_v7000
};

inline constexpr NsysVersion kNsysVersions[] = {
    {"2020", "", false, false, false, false, true},
    {"2023", "2.7.1", true, true, false, false, true},
    {"2024", "3.11.3", true, true, true, true, true},
    {"2026", "3.25.0", true, true, true, true, false},
};

inline constexpr std::int64_t kPid = std::int64_t{1234} << 24;
inline constexpr std::int64_t kTid = kPid | 1234;

class NsysWriter {
 public:
  NsysWriter(const std::string& path, const NsysVersion& version)
      : version_{version}, connection_{path, sqlite::Connection::Mode::kWrite, Seconds{0}} {
    execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)");
    execute("INSERT INTO StringIds VALUES (1, 'not needed by any row')");
    if (*version.schema == '\0') return;
    execute("CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)");
    execute(fmt::format("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '{}')", version.schema));
  }

  void execute(const std::string& sql) { connection_.execute(sql); }

  std::int64_t string(const std::string& text) {
    const auto [found, is_new] = strings_.try_emplace(text, static_cast<std::int64_t>(strings_.size()) + 10);
    if (is_new) {
      sqlite::Statement insert = connection_.prepare("INSERT INTO StringIds VALUES (?, ?)");
      insert.bind(found->second).bind(std::string_view{text}).run();
    }
    return found->second;
  }

  void make_tables() {
    const std::string process = version_.has_processes ? ", globalPid INTEGER" : "";
    const std::string green = version_.has_green_contexts ? ", greenContextId INTEGER" : "";
    const std::string node = version_.has_graph_nodes ? ", graphNodeId INTEGER" : "";
    const std::string common =
        "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER "
        "NOT NULL" +
        green + ", streamId INTEGER NOT NULL, correlationId INTEGER" + process;
    execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (" + common +
            ", demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, gridX INTEGER NOT NULL" + node + ")");
    execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (" + common +
            ", bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER" + node + ")");
    execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (" + common + ", value INTEGER, bytes INTEGER NOT NULL" + node +
            ")");
    execute(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER "
        "NOT "
        "NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, "
        "callchainId INTEGER)");
    execute(
        "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, "
        "category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId "
        "INTEGER)");
  }

  void kernel(std::int64_t start, std::int64_t end, std::int64_t correlation, const std::string& name,
              std::int64_t pid = kPid) {
    insert("CUPTI_ACTIVITY_KIND_KERNEL", start, end, correlation, pid,
           {{"demangledName", string(name)}, {"shortName", string("short")}, {"gridX", 1}, {"streamId", 7}});
  }
  void copy(std::int64_t start, std::int64_t end, std::int64_t correlation, std::int64_t bytes, std::int64_t kind) {
    insert("CUPTI_ACTIVITY_KIND_MEMCPY", start, end, correlation, kPid,
           {{"bytes", bytes}, {"copyKind", kind}, {"streamId", 8}});
  }
  void call(std::int64_t start, std::int64_t end, std::int64_t correlation, const std::string& name,
            std::int64_t tid = kTid) {
    const std::string full = name + (version_.has_versioned_calls ? "_v7000" : "");
    execute(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({}, {}, 0, {}, {}, {}, 0, NULL)", start, end,
                        tid, correlation, string(full)));
  }
  void range(std::int64_t start, std::int64_t end, const std::string& name, int type = 59, std::int64_t tid = kTid) {
    const std::string text = version_.has_registered_strings ? "NULL" : "'" + name + "'";
    const std::string id = version_.has_registered_strings ? std::to_string(string(name)) : "NULL";
    execute(fmt::format("INSERT INTO NVTX_EVENTS VALUES ({}, {}, {}, NULL, NULL, NULL, {}, {}, NULL, {}, 0)", start,
                        end, type, text, tid, id));
  }

 private:
  void insert(const std::string& table, std::int64_t start, std::int64_t end, std::int64_t correlation,
              std::int64_t pid, const std::map<std::string, std::int64_t>& others) {
    std::string columns = "start, end, deviceId, contextId, correlationId";
    std::string values = fmt::format("{}, {}, 0, 1, {}", start, end, correlation);
    if (version_.has_processes) {
      columns += ", globalPid";
      values += fmt::format(", {}", pid);
    }
    for (const auto& [column, value] : others) {
      columns += ", " + column;
      values += fmt::format(", {}", value);
    }
    execute(fmt::format("INSERT INTO {} ({}) VALUES ({})", table, columns, values));
  }

  const NsysVersion& version_;
  sqlite::Connection connection_;
  std::map<std::string, std::int64_t> strings_;
};

/// Writes one_step() in microseconds. If the version distinguishes processes, writes another one with equal
/// correlations.
inline void write_one_step(const std::string& path, const NsysVersion& version) {
  constexpr std::int64_t kNs = 1000;
  NsysWriter writer{path, version};
  writer.make_tables();
  const Trace trace = one_step();
  for (const Range& range : trace.ranges)
    writer.range(kNs * range.start_ns, kNs * range.end_ns, trace.names[range.name]);
  writer.range(0, 1'000'000, "a mark", 34);
  for (const ApiCall& call : trace.calls) {
    writer.call(kNs * call.start_ns, kNs * call.end_ns, call.correlation, trace.names[call.name]);
  }
  for (const Operation& operation : trace.operations) {
    if (operation.kind == OperationKind::kMemcpy) {
      writer.copy(kNs * operation.start_ns, kNs * operation.end_ns, operation.correlation, operation.bytes, 1);
    } else {
      writer.kernel(kNs * operation.start_ns, kNs * operation.end_ns, operation.correlation,
                    trace.names[operation.name]);
    }
  }
}

}  // namespace tbench::profile
