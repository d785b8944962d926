#include "families.hpp"

namespace tbench::bench {

std::vector<Family> all_families(std::span<const ModelSize> extra_sizes) {
  return {
      model_family(extra_sizes),  attention_family(),    gemm_family(),
      kernel_family(extra_sizes), accumulation_family(), autocast_family(),
      warmup_family(extra_sizes), ceiling_family(),
  };
}

}  // namespace tbench::bench
