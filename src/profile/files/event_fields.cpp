#include "profile/files/event_fields.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "tbench/results/result_json.hpp"

namespace tbench::profile {
namespace {

using results::Json;

/// Returns the value as a text for a message, abbreviated if it is long.
std::string shown(const Json& value) {
  constexpr std::size_t kMaxShown = 40;
  if (value.is_structured()) return value.is_array() ? "an array" : "an object";
  std::string text = results::compact(value);
  if (text.size() > kMaxShown) text = fmt::format("a {} of {} bytes", value.type_name(), text.size());
  return text;
}

}  // namespace

EventFields::EventFields(const Json& object, std::string where) : object_{object}, where_{std::move(where)} {
  if (!object.is_object())
    throw std::runtime_error{fmt::format("{}: expected an object, found {}", where_, shown(object))};
}

void EventFields::refuse(const char* key, const std::string& problem) const {
  throw std::runtime_error{fmt::format("{}.{}: {}", where_, key, problem)};
}

const Json& EventFields::at(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) refuse(key, "is missing");
  return *found;
}

const std::string& EventFields::text(const char* key) const {
  const Json& value = at(key);
  if (!value.is_string()) refuse(key, fmt::format("expected a text, found {}", shown(value)));
  return value.get_ref<const std::string&>();
}

std::int64_t EventFields::integer(const char* key, std::int64_t min, std::int64_t max) const {
  const Json& value = at(key);
  const bool is_too_large = value.is_number_unsigned() &&
                            value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (value.is_number_integer() && !is_too_large) {
    const auto number = value.get<std::int64_t>();
    if (number >= min && number <= max) return number;
  }
  refuse(key, fmt::format("expected a whole number from {} to {}, found {}", min, max, shown(value)));
}

std::uint64_t EventFields::digits(const char* key) const {
  const std::string& digits = text(key);
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || rest != end) {
    refuse(key, fmt::format("expected 64 bits as digits, found {}", shown(at(key))));
  }
  return number;
}

std::int64_t EventFields::nanoseconds(const char* key, std::int64_t max_ns, const char* if_negative) const {
  constexpr double kNsPerUs = 1e3;
  const Json& value = at(key);
  if (!value.is_number()) refuse(key, fmt::format("expected microseconds, found {}", shown(value)));
  const double ns = value.get<double>() * kNsPerUs;
  if (!(ns > -0.5)) refuse(key, fmt::format("{} us: {}", shown(value), if_negative));
  if (!(ns <= static_cast<double>(max_ns))) {
    refuse(key, fmt::format("expected at most {} us (13 days), found {}", max_ns / 1000, shown(value)));
  }
  return std::llround(ns);
}

EventFields EventFields::object(const char* key) const { return {at(key), where_ + "." + key}; }

const Json& EventFields::array(const char* key) const {
  const Json& value = at(key);
  if (!value.is_array()) refuse(key, fmt::format("expected an array, found {}", shown(value)));
  return value;
}

}  // namespace tbench::profile
