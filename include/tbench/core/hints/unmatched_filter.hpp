// Filters of case names that match nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tbench {

/// Returns a filter that matches some of the names, by the first of these rewritings that does: without quotation
/// marks, with `:` between key and value, a shell's pattern as an expression, other capitals, and synonyms of values
/// (`pass:fwd`). Returns nullopt if none does.
[[nodiscard]] std::optional<std::string> meant_filter(std::string_view filter, std::span<const std::string> names);

}  // namespace tbench
