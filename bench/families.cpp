#include "families.hpp"

namespace tbench::bench {

std::vector<Family> all_families(std::span<const ModelSize> extra_sizes) {
  return {
      model_family(extra_sizes),
      attention_family(),
      kernel_family(extra_sizes),
      warmup_family(extra_sizes),
  };
}

}  // namespace tbench::bench
