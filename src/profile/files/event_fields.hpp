// The fields of one JSON object of a trace file, each checked for its type and range.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "tbench/results/record_json.hpp"

namespace tbench::profile {

/// Any error throws std::runtime_error, which names the position: `traceEvents[12].dur`.
class EventFields {
 public:
  /// @param object  must outlive this
  /// @throws        std::runtime_error  if it is no object
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
  /// 64 bits, as digits in a text: a double cannot hold them.
  [[nodiscard]] std::uint64_t digits(const char* key) const;
  /// Microseconds as nanoseconds.
  /// @param if_negative  what a message says of a negative number
  [[nodiscard]] std::int64_t nanoseconds(const char* key, std::int64_t max_ns, const char* if_negative) const;
  [[nodiscard]] EventFields object(const char* key) const;
  [[nodiscard]] const results::Json& array(const char* key) const;

  /// @throws  std::runtime_error  `PLACE.KEY: PROBLEM`
  [[noreturn]] void refuse(const char* key, const std::string& problem) const;

 private:
  [[nodiscard]] const results::Json& at(const char* key) const;

  const results::Json& object_;
  std::string where_;
};

}  // namespace tbench::profile
