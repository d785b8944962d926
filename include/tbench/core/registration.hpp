// Entries that register themselves: an attention backend, a model implementation, a family or a study is one file with
// TBENCH_REGISTER, and needs no entry in a list. No other file refers to it, so programs link the archives of these
// layers whole (tbench_link_whole() in TbenchTargets.cmake).
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tbench {

/// The entries of one type that the program's files have registered.
/// @tparam T  type with members `std::string name` and `int order`
template <class T>
class Registered {
 public:
  /// Adds an entry: TBENCH_REGISTER calls this before main() begins.
  static bool add(T entry) {
    entries().push_back(std::move(entry));
    return true;
  }

  /// Returns all entries sorted by (order, name), independent of the link order. Call it after main() has begun.
  /// @throws  std::logic_error  if two entries have the same name
  [[nodiscard]] static std::vector<T> sorted() {
    std::vector<T> all = entries();
    std::ranges::sort(all, {}, [](const T& entry) { return std::tie(entry.order, entry.name); });
    for (auto entry = all.begin(); entry != all.end(); ++entry) {
      if (std::ranges::find(all.begin(), entry, entry->name, &T::name) == entry) continue;
      throw std::logic_error{"'" + entry->name + "' is registered twice; give one of them another name"};
    }
    return all;
  }

 private:
  static std::vector<T>& entries() {
    static std::vector<T> all;
    return all;
  }
};

}  // namespace tbench

#define TBENCH_CONCATENATE_EXPANDED(a, b) a##b
#define TBENCH_CONCATENATE(a, b) TBENCH_CONCATENATE_EXPANDED(a, b)

/// Registers an entry of a type: TBENCH_REGISTER(ModelImpl, {.name = "mine", .order = 1000, ...}). Use it at namespace
/// scope, in a namespace of the file's own, as a unity build compiles several files as one. The initializer must not
/// read globals of other files, which may not be initialized yet.
#define TBENCH_REGISTER(type, ...)                                              \
  [[maybe_unused]] const bool TBENCH_CONCATENATE(is_registered_, __COUNTER__) = \
      ::tbench::Registered<type>::add(type __VA_ARGS__)
