// Fused attention against separate operations by length, width and precision: the assignment's leaderboard.
#include "studies.hpp"

namespace tbench::report {

Study flash_study() {
  return {
      .name = "flash",
      .title = "Fused attention against separate operations, causal",
      .grids = {{.family = "Attention",
                 .axes = {{"batch", {"1"}},
                          {"heads", {"1"}},
                          {"d_model", {"16", "32", "64", "128"}},
                          {"seq_len", {"128", "256", "512", "1024", "2048", "4096", "8192", "16384", "32768", "65536"}},
                          {"causal", {"1"}},
                          {"pass", {"forward", "forward_backward"}},
                          {"precision", {"bf16", "fp32"}},
                          {"impl", {"naive", "flash"}}}}},
      .protocol = {},
      .tables = {{.caption = "One head: d_model is head_dim. Medians: the forward pass alone; the backward's part of "
                             "forward and backward; both, end to end. A speed-up is naive's time over flash's",
                  .spread = {"pass", "impl"},
                  .columns = {attention_forward_column(), attention_backward_column(),
                              of_pass("forward_backward", number_column("end to end ms", "median_ms"))},
                  .speed_up = StudySpeedUp{.key = "impl", .base = "naive"},
                  .fit = {}}}};
}

}  // namespace tbench::report
