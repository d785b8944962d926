// Which records of a file a command is about.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"

namespace tbench::report {

/// The records whose case name matches `filter` anywhere, in their order; all for an empty filter.
/// @param filter  regular expression (ECMAScript)
/// @throws        UsageError  naming the value, for one that is no regular expression or that no case matches
[[nodiscard]] std::vector<Record> select_records(std::span<const Record> records, const std::string& filter);

}  // namespace tbench::report
