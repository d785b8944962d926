// Why an ATen attention backend refuses a configuration, in ATen's own words.
#pragma once

#include <ATen/native/transformers/cuda/sdp_utils.h>

#include <optional>
#include <string>

#include "tbench/model/attention_step.hpp"

namespace tbench::model {

/// Asks the check that ATen makes before it chooses the backend, for tensors of the configuration's shape, dtype and
/// need of a gradient. Needs a CUDA device; allocates a few bytes on it.
/// @param can_use  sdp::can_use_flash_attention and its like
[[nodiscard]] std::optional<std::string> sdpa_refusal(bool (*can_use)(const sdp::sdp_params& parameters, bool debug),
                                                      const AttentionStepConfig& config);

/// For the backends that have no CPU kernel.
[[nodiscard]] std::optional<std::string> cpu_refusal(const AttentionStepConfig& config);

}  // namespace tbench::model
