// The studies of attention alone, and the columns and the grid that other studies use too.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/attention/grid_sentences.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/render/number_format.hpp"

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

/// Returns the bytes that are live before the backward pass of a case on the course's grid: those that the forward pass
/// left, and q, k and v, which have batch x seq_len x d_model elements each.
std::optional<double> live_before_backward(const Record& record) {
  const auto held = counter_of(record, "held_bytes");
  if (!held) return std::nullopt;
  const std::string& precision = record.id.at("precision");
  const double element = precision == "fp32" || precision == "tf32" ? 4 : 2;  // bytes
  double elements = 3;
  for (const char* const extent : {"batch", "seq_len", "d_model"}) {
    elements *= static_cast<double>(record.id.int_at(extent));
  }
  return (*held + elements * element) * kMebibytes;
}

StudyColumn held_column() {
  return of_pass("forward_backward", number_column("held before backward MiB", "held_bytes", kMebibytes));
}

/// Returns the highest number of bytes that were allocated at once before the backward pass, of a step in which the
/// forward pass keeps what backward needs.
std::optional<double> peak_before_backward(const Record& record) {
  if (!record.memory) return std::nullopt;
  const auto forward = std::ranges::find(record.memory->phases, "forward", &PhaseMemory::phase);
  if (forward == record.memory->phases.end()) return std::nullopt;
  return static_cast<double>(forward->allocated_peak) * kMebibytes;
}

StudyColumn peak_column() {
  return of_pass(
      "forward_backward",
      {.header = "peak before backward MiB", .value = &peak_before_backward, .format = &render::format_number});
}

/// Returns the table with the implementations side by side. It is not shown without another one than `naive`.
StudyTable side_by_side_table() {
  StudyTable table{.caption =
                       "The same medians and memory, with the implementations side by side. A change is "
                       "(implementation - naive) / naive: -50 is half the time or half the memory",
                   .spread = {"pass", "impl"},
                   .columns = {attention_forward_column(), attention_backward_column(), held_column(), peak_column()},
                   .speed_up = StudySpeedUp{.base = {{"impl", "naive"}}, .as = StudyComparison::kChange}};
  table.needs_base = true;
  return table;
}

/// Attention by width and length on the course's grid: the times of forward and backward, and the memory held between
/// them.
Study attention_grid_study() {
  return {
      .name = "attention_grid",
      .title = "Attention's forward, backward and memory by width and length",
      .grids = {course_attention_grid({"fp32"}, {"naive", "compiled", "flash"})},
      .tables =
          {{
               .caption =
                   "Medians: the forward pass alone, which keeps nothing; the backward's part of forward "
                   "and backward; what is held between these two: the output and what backward needs, without and "
                   "with q, k and v; and the peak of all allocated memory until then, with the workspaces of libraries",
               .spread = {"pass"},
               .columns = {attention_forward_column(), attention_backward_column(), held_column(),
                           of_pass("forward_backward", {.header = "with q, k, v MiB",
                                                        .value = &live_before_backward,
                                                        .format = &render::format_number}),
                           peak_column()},
           },
           side_by_side_table()},
      .if_known = {{"Attention", {"impl", {"compiled"}}}},
      .conclude = &grid_sentences,
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
