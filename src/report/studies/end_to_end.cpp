// What a step costs: time, spread, throughput, memory and phases of every size, context, pass and precision.
#include "studies.hpp"

namespace tbench::report {

Study end_to_end_study() {
  return {
      .name = "end_to_end",
      .title = "Time, throughput and peak memory of a step",
      .grids = {model_grid({"64", "128", "256", "512", "1024"}, {"forward", "forward_backward", "train_step"},
                           {"fp32", "tf32", "bf16", "fp16"})},
      .protocol = {},
      .tables = {{.caption = "Means over the samples; phases are medians between events at their boundaries",
                  .spread = {},
                  .columns = {number_column("mean ms", "mean_ms"), number_column("std ms", "std_ms"),
                              whole_column("tokens/s", "tokens_per_second"),
                              mebibytes_column("allocated MiB", "peak_allocated_bytes"),
                              mebibytes_column("reserved MiB", "peak_reserved_bytes"),
                              number_column("forward ms", "forward_ms"), number_column("backward ms", "backward_ms"),
                              number_column("optimizer ms", "optimizer_ms")},
                  .speed_up = {},
                  .fit = {}}}};
}

}  // namespace tbench::report
