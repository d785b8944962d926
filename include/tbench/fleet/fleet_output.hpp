// A fleet for people (a table in a terminal, Markdown) and for programs (JSON), which later fleets take what they know
// from.
#pragma once

#include <string>
#include <vector>

#include "tbench/fleet/fleet.hpp"
#include "tbench/render/page.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::fleet {

/// E.g. `8 machines: GPU-0123abcd slow in memory`.
[[nodiscard]] std::string fleet_summary(const Fleet& fleet);

/// A row a machine, a row a resource with what it can find, and the summary.
[[nodiscard]] std::string fleet_page(const Fleet& fleet, const render::PageOptions& options);

/// SLOW or SOUND, why, and the command that measures a slow GPU again, on its machine.
[[nodiscard]] results::Conclusion fleet_conclusion(const Fleet& fleet);

/// That, everything in the struct, and its summary.
[[nodiscard]] results::Json fleet_to_json(const Fleet& fleet);

/// The spreads of a file that fleet_to_json made.
/// @throws  UsageError  naming the file, the problem and the remedy
[[nodiscard]] std::vector<KnownSpread> read_known_spreads(const std::string& path);

}  // namespace tbench::fleet
