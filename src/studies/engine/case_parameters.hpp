// Parts of a case's parameters: cases that differ in some keys alone, single values, and names of the rest.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "tbench/core/case_id.hpp"

namespace tbench::studies {

/// Returns the case without the parameters of these keys.
[[nodiscard]] CaseId without(const CaseId& id, std::span<const std::string_view> keys);
[[nodiscard]] CaseId without(const CaseId& id, std::initializer_list<std::string_view> keys);

/// Returns the case with another value of `key`, if it has the key.
[[nodiscard]] CaseId with_value(const CaseId& id, std::string_view key, const std::string& value);

/// Returns the value of `key`, or an empty text if the case has no such key.
[[nodiscard]] std::string value_or_empty(const CaseId& id, std::string_view key);

/// Returns the parameters with their keys, separated by blanks: `heads:1 seq_len:64`.
[[nodiscard]] std::string keys_and_values(const CaseId& id);

}  // namespace tbench::studies
