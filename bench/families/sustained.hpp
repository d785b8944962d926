// The optional key `regime` of families whose cases are bursts: with `regime:sustained`, launches follow each other
// without a rest, at the clock that the GPU's power limit leaves them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/measure/sampler.hpp"

namespace tbench::bench {

/// Returns the key with its permitted values. It is the last key of its family.
[[nodiscard]] KeySpec regime_key();

/// Returns the last axis of a table. Names omit the key for bursts.
[[nodiscard]] Axis regime_axis(std::vector<std::string> regimes = {"burst"});

/// Returns whether the case is a sustained one of a family of bursts.
[[nodiscard]] bool is_sustained(const CaseId& id);

/// Sets the protocol of launches at the power limit: long chunks, each of which drops its first part.
void sample_at_power_limit(measure::SamplerOptions& sampler);

/// Sets the protocol of a sustained case: sample_at_power_limit() after a warm-up of half a second to five seconds.
void prescribe_sustained(const CaseId& id, measure::SamplerOptions& sampler);

/// Returns why a sustained case cannot be measured here, or nullopt for cases that can be and for all other cases. A
/// plug-in's operands are drawn again before every launch, which needs bursts. A case that fits in the L2 cache would
/// find its operands there, unlike in a model.
/// @param l2_bytes  of the GPU; absent on a CPU, which has no limit
[[nodiscard]] std::optional<std::string> sustained_unsupported_reason(const CaseId& id, const Case& subject,
                                                                      std::optional<std::int64_t> l2_bytes);

}  // namespace tbench::bench
