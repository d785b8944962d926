// The tables of an export and the names in them. nsys only creates tables that have rows, and newer versions have more
// columns: https://docs.nvidia.com/nsight-systems/UserGuide/index.html#sqlite-schema-reference
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tbench/profile/trace.hpp"
#include "tbench/sqlite/sqlite.hpp"

namespace tbench::profile {

/// The file's tables with their columns.
class NsysSchema {
 public:
  explicit NsysSchema(const sqlite::Connection& connection);

  /// Returns the names of the tables in alphabetical order.
  [[nodiscard]] std::vector<std::string> tables() const;
  [[nodiscard]] bool has(const std::string& table) const { return columns_.contains(table); }
  [[nodiscard]] bool has(const std::string& table, const std::string& column) const;
  /// Returns `column` if the table has it, otherwise `otherwise`.
  [[nodiscard]] std::string column(const std::string& table, const std::string& column,
                                   const std::string& otherwise) const;

 private:
  std::map<std::string, std::set<std::string>> columns_;
};

/// The maximum number of characters of a name; longer names are cut off. Names of kernels with template arguments have
/// several thousand characters.
inline constexpr int kMaxNameLength = 65'536;

/// Resolves the names to which rows refer by ids of the table StringIds. The table is read once, at the end, because it
/// has many more names than are needed.
class NsysNames {
 public:
  /// @param names  the vector to fill; must outlive this
  explicit NsysNames(std::vector<std::string>& names) : names_{names} {}

  [[nodiscard]] Index of_id(std::int64_t id);
  [[nodiscard]] Index of_text(const std::string& text);
  void read(const sqlite::Connection& connection, const NsysSchema& schema);

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::int64_t, Index> by_id_;
  std::unordered_map<std::string, Index> by_text_;
  std::int64_t last_id_{};
  Index last_index_{kNone};
};

/// Returns the name of a copy, such as `Memcpy HtoD`, for a CUpti_ActivityMemcpyKind.
[[nodiscard]] std::string nsys_copy_name(std::int64_t kind);

}  // namespace tbench::profile
