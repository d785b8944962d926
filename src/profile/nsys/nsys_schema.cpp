#include "profile/nsys/nsys_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tbench::profile {
namespace {

struct CopyKind {
  std::int64_t id;
  const char* name;
};
/// The kinds of CUpti_ActivityMemcpyKind, and the additional kinds of nsys for unified memory.
constexpr std::array kCopyKinds{CopyKind{1, "HtoD"},         CopyKind{2, "DtoH"},          CopyKind{3, "HtoA"},
                                CopyKind{4, "AtoH"},         CopyKind{5, "AtoA"},          CopyKind{6, "AtoD"},
                                CopyKind{7, "DtoA"},         CopyKind{8, "DtoD"},          CopyKind{9, "HtoH"},
                                CopyKind{10, "PtoP"},        CopyKind{11, "unified HtoD"}, CopyKind{12, "unified DtoH"},
                                CopyKind{13, "unified DtoD"}};

}  // namespace

NsysSchema::NsysSchema(const sqlite::Connection& connection) {
  sqlite::Statement tables = connection.prepare(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'");
  std::vector<std::string> names;
  while (tables.step()) names.push_back(tables.text(0));
  for (const std::string& name : names) {
    columns_[name];
    sqlite::Statement columns = connection.prepare("SELECT name FROM pragma_table_info(?)");
    columns.bind(std::string_view{name});
    while (columns.step()) columns_[name].insert(columns.text(0));
  }
}

std::vector<std::string> NsysSchema::tables() const {
  std::vector<std::string> names;
  for (const auto& [name, columns] : columns_) names.push_back(name);
  return names;
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
  sqlite::Statement rows =
      connection.prepare(fmt::format("SELECT id, substr(value, 1, {}) FROM StringIds", kMaxNameLength));
  while (rows.step()) {
    const auto found = by_id_.find(rows.integer(0));
    if (found != by_id_.end()) names_[found->second] = rows.text(1);
  }
}

std::string nsys_copy_name(std::int64_t kind) {
  const auto known = std::ranges::find(kCopyKinds, kind, &CopyKind::id);
  return known != kCopyKinds.end() ? fmt::format("Memcpy {}", known->name) : fmt::format("Memcpy (kind {})", kind);
}

}  // namespace tbench::profile
