// What TF32 products change of attention's time, on the course's grid.
#include "studies.hpp"

namespace tbench::report {

Study tf32_study() {
  return {.name = "tf32",
          .title = "Attention's forward and backward with TF32 off and on",
          .grids = {course_attention_grid({"fp32", "tf32"}, {"naive", "compiled"})},
          .protocol = {},
          .tables = {{.caption = "fp32: TF32 off, tf32: on. Medians: the forward pass alone; the backward's part of "
                                 "forward and backward. A change is (on - off) / off of the time: -50 is half the time",
                      .spread = {"pass", "precision"},
                      .columns = {attention_forward_column(), attention_backward_column()},
                      .speed_up = StudySpeedUp{.key = "precision", .base = "fp32", .as_change = true},
                      .fit = {}}},
          .if_known = {{"Attention", {"impl", {"compiled"}}}}};
}

}  // namespace tbench::report
