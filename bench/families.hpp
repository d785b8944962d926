// The families of transformer_bench.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "family.hpp"
#include "tbench/core/model_size.hpp"

namespace tbench::bench {

/// @param extra_sizes  the user's model sizes (`--tb_size`), which join the built-in ones on the course grids
[[nodiscard]] std::vector<Family> all_families(std::span<const ModelSize> extra_sizes);

[[nodiscard]] Family model_family(std::span<const ModelSize> extra_sizes);
[[nodiscard]] Family accumulation_family();
[[nodiscard]] Family attention_family();
[[nodiscard]] Family autocast_family();
[[nodiscard]] Family ceiling_family();
[[nodiscard]] Family gemm_family();
[[nodiscard]] Family kernel_family(std::span<const ModelSize> extra_sizes);
[[nodiscard]] Family warmup_family(std::span<const ModelSize> extra_sizes);

}  // namespace tbench::bench
