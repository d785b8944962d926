// The facts about program and machine in the `context` of plain Google Benchmark JSON.
#pragma once

#include <optional>
#include <string>

#include "tbench/compare/sides.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::compare {

/// Its plain values by key, `caches` as a text; switches are `on` or `off`. The load is left out: it never is the same.
[[nodiscard]] PlainContext plain_context(const results::Json& context);

/// `8 CPUs (node)`; empty where it says neither.
[[nodiscard]] std::string machine_of(const PlainContext& context);

/// The program that wrote the file, as it was called; empty where that is not told, or is no name of a file.
[[nodiscard]] std::string program_of(const PlainContext& context);

}  // namespace tbench::compare
