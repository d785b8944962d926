// Values of flags that have a form of their own, and suggestions for values in another form.
#pragma once

#include <string>

#include "bench/families/injected_delay.hpp"
#include "tbench/core/run_order.hpp"

namespace tbench::bench {

/// Parses the value of --tb_shard.
/// @throws  UsageError  if it is not I/N; the message suggests that form for `1of4` and `1-4`
[[nodiscard]] Shard shard_of(const std::string& text);

/// Parses the value of --tb_plant.
/// @throws  UsageError  if it is not CASE:SHARE; the message suggests that form for a share in percent
[[nodiscard]] InjectedDelay injected_delay_of(const std::string& text);

}  // namespace tbench::bench
