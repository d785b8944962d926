// The studies of attention alone, and the columns and the grid that other studies use too.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/sentences.hpp"
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
constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;

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

/// Returns how the time and the held memory of an implementation grow with the length, at d_model 64.
std::string growth_sentence(const StudyMeasurements& all, const std::string& impl) {
  const auto median = [&](const char* counter) {
    return [&all, counter](const CaseId& id) { return median_of(all.records_of(id), counter); };
  };
  const auto time =
      growth_over(all, "seq_len", {{"impl", impl}, {"d_model", "64"}, {"pass", "forward"}}, median("median_ms"));
  if (!time) return "";
  std::string text = fmt::format(
      "Forward of {} at d_model 64: from {} to {} tokens, the time grows with the power {:.2f} of the length", impl,
      time->from, time->to, time->exponent);
  const auto held = growth_over(all, "seq_len", {{"impl", impl}, {"d_model", "64"}, {"pass", "forward_backward"}},
                                median("held_bytes"));
  if (held) {
    text += fmt::format("; from {} to {} tokens, the memory held for backward with the power {:.2f}", held->from,
                        held->to, held->exponent);
  }
  return text + ".";
}

/// Returns which case asked for the fewest bytes that the memory did not have, or an empty text if none failed.
std::string memory_sentence(const StudyMeasurements& all) {
  const Record* smallest = nullptr;
  for (const CaseId& id : all.cases) {
    for (const Record* const record : all.records_of(id)) {
      if (record->status != Status::kOom || !record->requested_bytes) continue;
      if (smallest == nullptr || *record->requested_bytes < *smallest->requested_bytes) smallest = record;
    }
  }
  if (smallest == nullptr) return "";
  return fmt::format("The smallest allocation that failed: {} GiB, {} of {} with {} tokens at d_model {}.",
                     render::format_number(static_cast<double>(*smallest->requested_bytes) / kGibi),
                     smallest->id.at("pass"), smallest->id.at("impl"), smallest->id.at("seq_len"),
                     smallest->id.at("d_model"));
}

/// Returns which memory the longest sequences of an implementation need, and which sequences fit into less. The text is
/// empty if a case failed for memory, since memory_sentence() then names the limit. It is empty, too, if all need less
/// than a GiB, which limits no length on a GPU.
std::string peak_sentence(const StudyMeasurements& all, const std::string& impl) {
  std::map<std::int64_t, NamedRange> by_length;  // of forward and backward, in GiB, by d_model
  for (const CaseId& id : all.cases) {
    if (!has_all(id, {{"impl", impl}, {"pass", "forward_backward"}})) continue;
    for (const Record* const record : all.records_of(id)) {
      if (record->status == Status::kOom) return "";
      if (!record->memory) continue;
      by_length[id.int_at("seq_len")].add(static_cast<double>(record->memory->allocated_peak) / kGibi,
                                          "d_model " + id.at("d_model"));
    }
  }
  if (by_length.size() < 2) return "";
  const auto longest = std::prev(by_length.end());
  if (longest->second.high < 1) return "";
  const auto shorter = std::prev(longest);
  return fmt::format(
      "Forward and backward of {} with {} tokens peak at {}; with less memory, the longest sequence has {} tokens and "
      "peaks at {}.",
      impl, longest->first, longest->second.text("GiB"), shorter->first, shorter->second.text("GiB"));
}

std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::vector<std::string> impls;
  for (const CaseId& id : all.cases) {
    if (std::ranges::find(impls, id.at("impl")) == impls.end()) impls.push_back(id.at("impl"));
  }
  std::vector<std::string> found;
  for (const std::string& impl : impls) {
    found.push_back(growth_sentence(all, impl));
    found.push_back(peak_sentence(all, impl));
  }
  found.push_back(memory_sentence(all));
  std::erase(found, "");
  return found;
}

StudyColumn held_column() {
  return of_pass("forward_backward", number_column("held before backward MiB", "held_bytes", kMebibytes));
}

/// Returns the table with the implementations side by side. It is not shown without another one than `naive`.
StudyTable side_by_side_table() {
  StudyTable table{.caption =
                       "The same medians and memory, with the implementations side by side. A change is "
                       "(implementation - naive) / naive: -50 is half the time or half the memory",
                   .spread = {"pass", "impl"},
                   .columns = {attention_forward_column(), attention_backward_column(), held_column()},
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
                   "and backward; and what is held between these two: the output and what backward needs, without and "
                   "with q, k and v",
               .spread = {"pass"},
               .columns = {attention_forward_column(), attention_backward_column(), held_column(),
                           of_pass("forward_backward", {.header = "with q, k, v MiB",
                                                        .value = &live_before_backward,
                                                        .format = &render::format_number})},
           },
           side_by_side_table()},
      .if_known = {{"Attention", {"impl", {"compiled"}}}},
      .conclude = &sentences,
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
