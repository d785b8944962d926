// The value of --tb_axis, and what a user means who writes it in another form.
#pragma once

#include <string>

#include "tbench/core/case_table.hpp"

namespace tbench::bench {

/// Parses the value of --tb_axis.
/// @throws  UsageError  if `text` is not `Family.key=value[,value...]`; the message suggests a family that has the key,
///                      and the right separators
[[nodiscard]] AxisOverride parse_axis(const std::string& text);

}  // namespace tbench::bench
