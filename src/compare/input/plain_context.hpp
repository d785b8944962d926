// The facts about program and machine in the `context` of plain Google Benchmark JSON.
#pragma once

#include <optional>
#include <string>

#include "tbench/compare/sides.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::compare {

/// Returns the values of a context by key, with `caches` as a text and switches as `on` or `off`. Leaves out the load,
/// which is never the same.
[[nodiscard]] PlainContext plain_context(const results::Json& context);

/// Returns `8 CPUs (node)`; empty if the context has neither CPUs nor a host name.
[[nodiscard]] std::string machine_of(const PlainContext& context);

/// Returns the program that wrote the file, as it was called; empty if this is unknown or not the name of a file.
[[nodiscard]] std::string program_of(const PlainContext& context);

}  // namespace tbench::compare
