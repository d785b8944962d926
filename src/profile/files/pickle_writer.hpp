// Writes Python's pickle format (protocol 2) for plain data: dictionaries, lists, texts and integers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tbench::profile {

/// Writes values in order. A list or dictionary is open between its begin and its end, and in a dictionary keys and
/// values alternate. A repeated text is written as a reference to the first one.
class PickleWriter {
 public:
  PickleWriter();
  void begin_dict();
  void end_dict();
  void begin_list();
  void end_list();
  void text(std::string_view value);
  void number(std::int64_t value);
  /// Writes a key and its value.
  void entry(std::string_view key, std::int64_t value) { text(key), number(value); }
  void entry(std::string_view key, std::string_view value) { text(key), text(value); }

  /// Stores the last written value for again(), and returns its number.
  [[nodiscard]] std::uint32_t remember();
  void again(std::uint32_t remembered);

  [[nodiscard]] std::string take() &&;

 private:
  void put32(std::uint32_t value);

  std::string bytes_;
  std::uint32_t remembered_{};
  std::unordered_map<std::string, std::uint32_t> texts_;
};

}  // namespace tbench::profile
