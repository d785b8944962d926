// The tables of an export and the names in them. Tables are made when there is something to put into them, and have
// gained columns over the years: https://docs.nvidia.com/nsight-systems/UserGuide/index.html#sqlite-schema-reference
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

  /// Their names, in the order of the alphabet.
  [[nodiscard]] std::vector<std::string> tables() const;
  [[nodiscard]] bool has(const std::string& table) const { return columns_.contains(table); }
  [[nodiscard]] bool has(const std::string& table, const std::string& column) const;
  /// The column; where the table lacks it, `otherwise`.
  [[nodiscard]] std::string column(const std::string& table, const std::string& column,
                                   const std::string& otherwise) const;

 private:
  std::map<std::string, std::set<std::string>> columns_;
};

/// Characters of a name that are kept. Names of kernels have some thousands, for their template arguments.
inline constexpr int kMaxNameLength = 65'536;

/// Names that the rows have as ids of StringIds, which is read once, at the end: it holds far more than is needed.
class NsysNames {
 public:
  /// @param names  to fill; must outlive this
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

/// The name of a call without its version: `cudaLaunchKernel` of `cudaLaunchKernel_v7000`.
[[nodiscard]] std::string without_version(std::string name);

/// `Memcpy HtoD`, by the CUpti_ActivityMemcpyKind of a row.
[[nodiscard]] std::string nsys_copy_name(std::int64_t kind);

}  // namespace tbench::profile
