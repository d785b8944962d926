// The peak of a model step by what it holds.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/training/trainer.hpp"
#include "tbench/core/allocation_log.hpp"

namespace tbench::model {

/// Bytes of parameters (with the copies that passes of their own keep), gradients that were there at the peak,
/// optimizer_state, `others`, and activations: the rest of the peak.
/// @param others  what the step keeps besides, by name
[[nodiscard]] std::map<std::string, std::int64_t> split_of(const MemoryPeak& peak, const Trainer& trainer,
                                                           const std::map<std::string, std::int64_t>& others);

}  // namespace tbench::model
