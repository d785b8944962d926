// A side that plain Google Benchmark JSON makes.
#pragma once

#include <string>

#include "compare/input/plain_rows.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::compare {

/// Cases have the names that the file has: match_plain_names() gives them others.
/// @param path  its name in warnings
/// @param file  its name in messages
/// @param rest  the file without its rows
/// @throws      UsageError  naming the file, for one that measured nothing
[[nodiscard]] ComparisonSide plain_side(const std::string& path, const std::string& file, const results::Json& rest,
                                        PlainRows rows);

}  // namespace tbench::compare
