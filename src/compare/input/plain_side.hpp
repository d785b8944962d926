// The side of a file of plain Google Benchmark JSON.
#pragma once

#include <string>

#include "compare/input/plain_rows.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::compare {

/// Returns the side of a file. Its cases have the names in the file; match_plain_names() shortens them.
/// @param path  name of the file in warnings
/// @param file  name of the file in error messages
/// @param rest  the file without its rows
/// @throws      UsageError  if the file has no measurements; the message names the file
[[nodiscard]] ComparisonSide plain_side(const std::string& path, const std::string& file, const results::Json& rest,
                                        PlainRows rows);

}  // namespace tbench::compare
