// Where the memory goes: peaks, and what they hold.
#include "studies.hpp"

namespace tbench::report {

Study memory_study() {
  return {
      .name = "memory",
      .title = "Peak memory of a step, and what holds it",
      .grids = {model_grid({"64", "128", "256", "512", "1024"}, {"forward", "forward_backward", "train_step"},
                           {"fp32", "bf16"})},
      .protocol = {},
      .tables = {
          {.caption = "Peaks of two steps in a pass of their own; activations are the allocated peak's rest, "
                      "forward is without a graph",
           .spread = {},
           .columns = {mebibytes_column("allocated MiB", "peak_allocated_bytes"),
                       mebibytes_column("reserved MiB", "peak_reserved_bytes"),
                       split_column("parameters MiB", "parameters"), split_column("gradients MiB", "gradients"),
                       split_column("optimizer MiB", "optimizer_state"), split_column("activations MiB", "activations"),
                       number_column("median ms", "median_ms"), whole_column("tokens/s", "tokens_per_second")},
           .speed_up = {},
           .fit = {}}}};
}

}  // namespace tbench::report
