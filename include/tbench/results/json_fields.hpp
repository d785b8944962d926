// Strict conversion of structs to JSON and back. Each struct has one function, `fields(io, object)`, which names every
// field once and serves both directions. Only finite numbers are written. A field that is missing, unknown or of the
// wrong type is an error, and its message says where the field is.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tbench/results/record_json.hpp"

namespace tbench::results {

/// A quantity of units.hpp: an aggregate with one double called `value`.
template <class T>
concept Quantity = std::is_aggregate_v<T> && requires(T quantity) {
  { quantity.value } -> std::same_as<double&>;
};

/// T or const T: lets one description both read and write.
template <class T, class Struct>
concept Like = std::same_as<std::remove_const_t<T>, Struct>;

namespace detail {
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;
}  // namespace detail

/// Converts a value to JSON.
/// @throws  std::invalid_argument  naming `where`, for a number that is not finite
template <class T>
[[nodiscard]] Json to_value(const T& value, const std::string& where);

/// Converts JSON to a value.
/// @throws  std::runtime_error  naming `where`, if `json` is not exactly a T
template <class T>
[[nodiscard]] T from_value(const Json& json, const std::string& where);

/// Reads a string, a floating-point number or a Quantity. Needs no path for an error message, since it reports none.
/// @return  whether T is such a type and `json` has it; if not, `value` is unchanged, and from_value() must be called
template <class T>
[[nodiscard]] bool read_plain(const Json& json, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) return false;
    value = json.get_ref<const std::string&>();
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!json.is_number_float()) return false;
    value = json.get<T>();
    return true;
  } else if constexpr (Quantity<T>) {
    return read_plain(json, value.value);
  } else {
    return false;
  }
}

/// Writes the fields of one JSON object.
class FieldWriter {
 public:
  /// @param where  name of the object in error messages
  explicit FieldWriter(std::string where) : where_{std::move(where)} {}

  /// Writes a field.
  /// @throws  std::invalid_argument  for a number that is not finite
  template <class T>
  void field(const std::string& key, const T& value) {
    object_[key] = to_value(value, path(key));
  }
  /// Writes a field, or omits the key if the value is absent.
  template <class T>
  void field(const std::string& key, const std::optional<T>& value) {
    if (value) field(key, *value);
  }
  /// Writes an enumerator by its name, the result of to_string().
  template <class Enum>
  void name(const std::string& key, Enum value, std::optional<Enum> (*)(std::string_view)) {
    object_[key] = std::string{to_string(value)};
  }
  /// Like field() and name(), for fields that version 1 of the schema lacks.
  template <class T>
  void late_field(const std::string& key, const T& value) {
    field(key, value);
  }
  template <class Enum>
  void late_name(const std::string& key, Enum value, std::optional<Enum> (*parse)(std::string_view)) {
    name(key, value, parse);
  }
  template <class Enum>
  void name(const std::string& key, std::optional<Enum> value, std::optional<Enum> (*parse)(std::string_view)) {
    if (value) name(key, *value, parse);
  }
  /// Like name(), for a key that had another name in earlier versions.
  template <class Enum>
  void renamed_name(const std::string& key, const std::string& /*before*/, Enum value,
                    std::optional<Enum> (*parse)(std::string_view)) {
    name(key, value, parse);
  }
  /// Writes a text, or omits the key if the text is empty.
  void text_unless_empty(const std::string& key, const std::string& value) {
    if (!value.empty()) object_[key] = value;
  }
  /// Writes a list, or omits the key if the list is empty.
  template <class T>
  void list_unless_empty(const std::string& key, const std::vector<T>& values) {
    if (!values.empty()) field(key, values);
  }
  /// Writes a number, or omits the key if the number is 0.
  void number_unless_zero(const std::string& key, std::int64_t value) {
    if (value != 0) field(key, value);
  }

  [[nodiscard]] bool contains(const std::string& key) const { return object_.contains(key); }
  [[nodiscard]] std::string path(const std::string& key) const { return where_ + "." + key; }
  [[nodiscard]] Json take() && { return std::move(object_); }

 private:
  std::string where_;
  Json object_ = Json::object();
};

/// Reads the fields of one JSON object. finish() checks that every field was read.
class FieldReader {
 public:
  /// @param object  must outlive the reader
  /// @param where   name of the object in error messages
  /// @throws        std::runtime_error  if `object` is not a JSON object
  FieldReader(const Json& object, std::string where) : object_{&object}, where_{std::move(where)} {
    if (object.is_object()) return;
    throw std::runtime_error{fmt::format("{}: expected an object, found {}", where_, object.type_name())};
  }

  /// Returns the value of `key`, or null if the object has no such key.
  [[nodiscard]] const Json* find(const std::string& key) {
    const auto found = object_->find(key);
    if (found == object_->end()) return nullptr;
    known_.push_back(&*found);
    return known_.back();
  }
  /// Returns the value of `key`.
  /// @throws  std::runtime_error  if the object has no such key
  [[nodiscard]] const Json& at(const std::string& key) {
    const Json* value = find(key);
    if (value == nullptr) throw std::runtime_error{fmt::format("{}: the field is missing", path(key))};
    return *value;
  }

  template <class T>
  void field(const std::string& key, T& value) {
    const Json& json = at(key);
    if (!read_plain(json, value)) value = from_value<T>(json, path(key));
  }
  template <class T>
  void field(const std::string& key, std::optional<T>& value) {
    value.reset();
    const Json* json = find(key);
    if (json != nullptr && !read_plain(*json, value.emplace())) value = from_value<T>(*json, path(key));
  }
  template <class Enum>
  void name(const std::string& key, Enum& value, std::optional<Enum> (*parse)(std::string_view)) {
    const auto text = from_value<std::string>(at(key), path(key));
    const std::optional<Enum> parsed = parse(text);
    if (!parsed) throw std::runtime_error{fmt::format("{}: unknown value '{}'", path(key), text)};
    value = *parsed;
  }
  template <class Enum>
  void name(const std::string& key, std::optional<Enum>& value, std::optional<Enum> (*parse)(std::string_view)) {
    value.reset();
    if (find(key) != nullptr) name(key, value.emplace(), parse);
  }
  /// Like field() and name(), for fields that version 1 of the schema lacks. A missing field keeps its default.
  template <class T>
  void late_field(const std::string& key, T& value) {
    if (find(key) != nullptr) field(key, value);
  }
  template <class Enum>
  void late_name(const std::string& key, Enum& value, std::optional<Enum> (*parse)(std::string_view)) {
    if (find(key) != nullptr) name(key, value, parse);
  }
  /// Like name(), but reads the key `before` if the object has no `key`.
  template <class Enum>
  void renamed_name(const std::string& key, const std::string& before, Enum& value,
                    std::optional<Enum> (*parse)(std::string_view)) {
    name(find(key) == nullptr ? before : key, value, parse);
  }
  /// Reads a text. A missing key means an empty text.
  void text_unless_empty(const std::string& key, std::string& value) {
    std::optional<std::string> text;
    field(key, text);
    value = text.value_or("");
  }
  /// Reads a list. A missing key means an empty list.
  template <class T>
  void list_unless_empty(const std::string& key, std::vector<T>& values) {
    late_field(key, values);
  }
  /// Reads a number. A missing key means 0.
  void number_unless_zero(const std::string& key, std::int64_t& value) { late_field(key, value); }

  [[nodiscard]] std::string path(const std::string& key) const { return where_ + "." + key; }

  /// Checks that every field was read.
  /// @throws  std::runtime_error  naming the first unread field
  void finish() const {
    for (const auto& [key, value] : object_->items()) {
      if (std::ranges::find(known_, &value) != known_.end()) continue;
      throw std::runtime_error{fmt::format("{}: unknown field", path(key))};
    }
  }

 private:
  const Json* object_;
  std::string where_;
  std::vector<const Json*> known_;  // values of the fields that were read
};

/// Converts a struct to a JSON object.
/// @throws  std::invalid_argument  naming the field, for a number that is not finite
template <class T>
[[nodiscard]] Json to_object(const T& value, const std::string& where) {
  FieldWriter out{where};
  fields(out, value);
  return std::move(out).take();
}

/// Converts a JSON object to a struct.
/// @throws  std::runtime_error  naming the field that is missing, unknown or of the wrong type
template <class T>
[[nodiscard]] T from_object(const Json& json, const std::string& where) {
  FieldReader in{json, where};
  T value;
  fields(in, value);
  in.finish();
  return value;
}

template <class T>
Json to_value(const T& value, const std::string& where) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) throw std::invalid_argument{fmt::format("{}: {} is not a finite number", where, value)};
    return value;
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (Quantity<T>) {
    return to_value(value.value, where);
  } else if constexpr (detail::kIsVector<T>) {
    Json array = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) array.push_back(to_value(value[i], fmt::format("{}[{}]", where, i)));
    return array;
  } else if constexpr (detail::kIsMap<T>) {
    Json object = Json::object();
    for (const auto& [key, element] : value) object[key] = to_value(element, where + "." + key);
    return object;
  } else {
    return to_object(value, where);
  }
}

/// @throws  std::runtime_error  if `fits` is false
inline void expect_type(bool fits, const char* what, const Json& json, const std::string& where) {
  if (!fits) throw std::runtime_error{fmt::format("{}: expected {}, found {}", where, what, json.type_name())};
}

template <std::integral T>
[[nodiscard]] T integer_from(const Json& json, const std::string& where) {
  expect_type(json.is_number_integer(), "a whole number", json, where);
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                              : std::in_range<T>(json.get<std::int64_t>());
  if (!fits) throw std::runtime_error{fmt::format("{}: {} is out of range", where, json.dump())};
  return json.get<T>();
}

template <class T>
T from_value(const Json& json, const std::string& where) {
  if constexpr (std::is_same_v<T, std::string>) {
    expect_type(json.is_string(), "a string", json, where);
    return json.get<std::string>();
  } else if constexpr (std::is_same_v<T, bool>) {
    expect_type(json.is_boolean(), "true or false", json, where);
    return json.get<bool>();
  } else if constexpr (std::is_floating_point_v<T>) {
    expect_type(json.is_number(), "a number", json, where);
    return json.get<T>();
  } else if constexpr (std::is_integral_v<T>) {
    return integer_from<T>(json, where);
  } else if constexpr (Quantity<T>) {
    return T{from_value<double>(json, where)};
  } else if constexpr (detail::kIsVector<T>) {
    expect_type(json.is_array(), "an array", json, where);
    T elements;
    elements.reserve(json.size());
    using Element = typename T::value_type;
    for (const Json& element : json) {
      if constexpr (std::is_same_v<Element, double>) {
        // Files consist mostly of samples. The path of a sample is formatted only for an error.
        if (element.is_number_float()) {
          elements.push_back(element.get<double>());
          continue;
        }
      }
      elements.push_back(from_value<Element>(element, fmt::format("{}[{}]", where, elements.size())));
    }
    return elements;
  } else if constexpr (detail::kIsMap<T>) {
    expect_type(json.is_object(), "an object", json, where);
    T elements;
    for (const auto& [key, element] : json.items()) {
      elements.emplace(key, from_value<typename T::mapped_type>(element, where + "." + key));
    }
    return elements;
  } else {
    return from_object<T>(json, where);
  }
}

}  // namespace tbench::results
