// What lower precision gains in time.
#include "studies.hpp"

namespace tbench::report {

Study precision_study() {
  return {.name = "precision",
          .title = "Time by precision, and the speed-up over float32 without TF32",
          .grids = {model_grid({"128", "256", "512", "1024"}, {"forward", "forward_backward"},
                               {"fp32", "tf32", "bf16", "fp16"})},
          .protocol = {},
          .tables = {{.caption = "Median ms; the speed-up is fp32's time over the other's",
                      .spread = {"precision"},
                      .columns = {number_column("ms", "median_ms")},
                      .speed_up = StudySpeedUp{.key = "precision", .base = "fp32"},
                      .fit = {}}}};
}

}  // namespace tbench::report
