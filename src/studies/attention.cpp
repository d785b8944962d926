// The studies of attention alone, and the columns and the grid that other studies use too.
#include <utility>

#include "studies/engine/studies.hpp"

namespace tbench::studies {

StudyColumn attention_forward_column() { return of_pass("forward", number_column("forward ms", "median_ms")); }

StudyColumn attention_backward_column() {
  return of_pass("forward_backward", number_column("backward ms", "backward_ms"));
}

FamilyGrid course_attention_grid(std::vector<std::string> precision, std::vector<std::string> impl) {
  return {.family = "Attention",
          .axes = {{"batch", {"8"}},
                   {"heads", {"1"}},
                   {"d_model", {"16", "32", "64", "128", "256", "512"}},
                   {"seq_len", {"64", "128", "256", "1024", "4096", "8192", "16384"}},
                   {"causal", {"0"}},
                   {"pass", {"forward", "forward_backward"}},
                   {"precision", std::move(precision)},
                   {"impl", std::move(impl)}}};
}

}  // namespace tbench::studies

namespace tbench::studies::attention {
namespace {

constexpr double kMebibytes = 1.0 / (1024.0 * 1024.0);

/// Attention by width and length on the course's grid: the times of forward and backward, and the memory held between
/// them.
Study attention_grid_study() {
  return {
      .name = "attention_grid",
      .title = "Attention's forward, backward and memory by width and length",
      .grids = {course_attention_grid({"fp32"}, {"naive", "compiled", "flash"})},
      .tables = {{
          .caption = "Medians: the forward pass alone, which keeps nothing; the backward's part of forward "
                     "and backward; and what is held between these two: the output, but not q, k and v",
          .spread = {"pass"},
          .columns = {attention_forward_column(), attention_backward_column(),
                      of_pass("forward_backward", number_column("held before backward MiB", "held_bytes", kMebibytes))},
      }},
      .if_known = {{"Attention", {"impl", {"compiled"}}}},
      .open_to_plugins = {"Attention"}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "attention_grid", .order = 70, .make = &attention_grid_study});

/// Fused attention against separate operations by length, width and precision: the assignment's leaderboard.
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
      .tables = {{
          .caption = "One head: d_model is head_dim. Medians: the forward pass alone; the backward's part of "
                     "forward and backward; both, end to end. A speed-up is naive's time over flash's",
          .spread = {"pass", "impl"},
          .columns = {attention_forward_column(), attention_backward_column(),
                      of_pass("forward_backward", number_column("end to end ms", "median_ms"))},
          .speed_up = StudySpeedUp{.base = {{"impl", "naive"}}},
      }},
      .open_to_plugins = {"Attention"}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "flash", .order = 80, .make = &flash_study});

}  // namespace
}  // namespace tbench::studies::attention
