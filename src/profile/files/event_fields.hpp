// Reads the fields of one JSON object of a trace file and checks the type and range of each.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "tbench/results/record_json.hpp"

namespace tbench::profile {

/// The fields of an object. Every error throws std::runtime_error with the position, such as `traceEvents[12].dur`.
class EventFields {
 public:
  /// @param object  must outlive this
  /// @throws        std::runtime_error  if it is not an object
  EventFields(const results::Json& object, std::string where);

  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }
  [[nodiscard]] const std::string& text(const char* key) const;
  [[nodiscard]] std::int64_t integer(const char* key, std::int64_t min, std::int64_t max) const;
  template <class Unsigned>
  [[nodiscard]] Unsigned number(const char* key) const {
    return static_cast<Unsigned>(integer(key, 0, std::numeric_limits<Unsigned>::max()));
  }
  template <class Unsigned>
  [[nodiscard]] Unsigned number_or(const char* key, Unsigned otherwise) const {
    return has(key) ? number<Unsigned>(key) : otherwise;
  }
  /// Reads a 64-bit number from a text of digits, because a JSON number (a double) cannot hold it.
  [[nodiscard]] std::uint64_t digits(const char* key) const;
  /// Reads a time in microseconds and returns it in nanoseconds.
  /// @param if_negative  the problem that the message names for a negative number
  [[nodiscard]] std::int64_t nanoseconds(const char* key, std::int64_t max_ns, const char* if_negative) const;
  [[nodiscard]] EventFields object(const char* key) const;
  [[nodiscard]] const results::Json& array(const char* key) const;

  /// Reports a problem of a field.
  /// @throws  std::runtime_error  with the message `PLACE.KEY: PROBLEM`
  [[noreturn]] void refuse(const char* key, const std::string& problem) const;

 private:
  [[nodiscard]] const results::Json& at(const char* key) const;

  const results::Json& object_;
  std::string where_;
};

}  // namespace tbench::profile
