// Attention by width and length, the course's grid: time of forward and backward, and what is held between them.
#include <utility>

#include "studies.hpp"

namespace tbench::report {
namespace {

constexpr double kMebibytes = 1.0 / (1024.0 * 1024.0);

}  // namespace

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

Study attention_grid_study() {
  return {.name = "attention_grid",
          .title = "Attention's forward, backward and memory by width and length",
          .grids = {course_attention_grid({"fp32"}, {"naive", "compiled", "flash"})},
          .protocol = {},
          .tables = {{.caption = "Medians: the forward pass alone, which keeps nothing; the backward's part of forward "
                                 "and backward; and what is held between these two: the output, but not q, k and v",
                      .spread = {"pass"},
                      .columns = {attention_forward_column(), attention_backward_column(),
                                  of_pass("forward_backward",
                                          number_column("held before backward MiB", "held_bytes", kMebibytes))},
                      .speed_up = {},
                      .fit = {}}},
          .if_known = {{"Attention", {"impl", {"compiled"}}}}};
}

}  // namespace tbench::report
