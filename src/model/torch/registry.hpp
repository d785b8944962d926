// A registry of implementations or operations by name: the built-in entries, and entries that plug-ins and tests add.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/core/error.hpp"

namespace tbench::model {

/// Entries of type T by name, in a fixed order.
/// @tparam T  has a member `std::string name`
template <class T>
class Registry {
 public:
  /// Makes a registry of the built-in entries.
  /// @param key  the key in case names whose value is an entry's name: "impl", "op"
  Registry(std::string key, const std::vector<T>& entries)
      : key_{std::move(key)}, entries_(entries.begin(), entries.end()) {}

  /// Returns the entry, or null if the name is unknown.
  [[nodiscard]] const T* find(std::string_view name) const {
    const auto found = std::ranges::find(entries_, name, &T::name);
    return found == entries_.end() ? nullptr : &*found;
  }
  [[nodiscard]] T* find(std::string_view name) { return const_cast<T*>(std::as_const(*this).find(name)); }
  /// Returns the entry.
  /// @throws  UsageError  if the name is unknown; the message lists the known names
  [[nodiscard]] const T& at(std::string_view name) const {
    if (const T* const found = find(name)) return *found;
    throw UsageError{unknown(name)};
  }
  /// Returns the message that at() throws for an unknown name.
  [[nodiscard]] std::string unknown(std::string_view name) const {
    return fmt::format("{}:{}: unknown; expected one of {}", key_, name, fmt::join(names(), ", "));
  }

  /// Returns the names in the order in which the entries were listed and added.
  [[nodiscard]] std::vector<std::string> names() const {
    return names_where([](const T&) { return true; });
  }
  template <class Predicate>
  [[nodiscard]] std::vector<std::string> names_where(const Predicate& is_chosen) const {
    std::vector<std::string> names;
    for (const T& entry : entries_) {
      if (is_chosen(entry)) names.push_back(entry.name);
    }
    return names;
  }

  /// Adds an entry for as long as the process runs (tests inject faulty ones). Pointers to other entries stay valid.
  /// Not thread-safe.
  /// @throws  std::invalid_argument  if the name is taken
  void add(T entry) {
    if (find(entry.name) != nullptr) {
      throw std::invalid_argument{fmt::format("{}:{} is registered already", key_, entry.name)};
    }
    entries_.push_back(std::move(entry));
  }

 private:
  std::string key_;
  std::deque<T> entries_;
};

}  // namespace tbench::model
