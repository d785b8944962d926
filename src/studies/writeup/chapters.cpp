#include "studies/writeup/chapters.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace tbench::studies {
namespace {

/// Returns the protocol of the write-ups that this one reproduces, but 30 passes of attention instead of 100: a pass of
/// 16,384 tokens takes up to 0.1 s, and the GPU rests for three times as long after each (bursts). 110 passes of such a
/// case took up to 47 s on an H100. A long sum is a kernel for each addend, and its value is the same in each step.
StudyProtocol protocol_of(const std::string& family, bool needs_trace) {
  if (family == "Model") return {.warm_up = 5, .samples = 10, .needs_trace = needs_trace, .verify_once = true};
  if (family == "Attention") return {.warm_up = 5, .samples = 30, .needs_trace = needs_trace};
  if (family == "Accumulation") return {.warm_up = 1, .samples = 3, .without_trace = !needs_trace};
  return {.needs_trace = needs_trace};
}

constexpr std::string_view kOf2025 = "writeup";
constexpr std::string_view kOf2026 = "writeup_2026";

/// Parses values of axes, each as `Family.key=v1,v2`.
std::vector<AxisOverride> axes_of(const std::vector<const char*>& texts) {
  std::vector<AxisOverride> axes;
  for (const char* const text : texts) axes.push_back(parse_axis_override(text));
  return axes;
}

/// Returns the study with the protocol of a write-up.
Study measured_by(std::string_view writeup, Study study) {
  const bool needs_timelines = study.protocol.needs_timelines;
  study.protocol = protocol_of(study.grids.front().family, study.protocol.needs_trace);
  study.protocol.needs_timelines = needs_timelines;
  study.measured_by = writeup;
  return study;
}

/// Returns a part of a study.
/// @param kept  the values that its axes keep, as `Family.key=v1,v2`
Study part_of(const char* name, std::initializer_list<const char*> kept = {}) {
  return measured_by(kOf2025, restricted(find_study(name, "--tb_study"), axes_of(kept)));
}

/// Returns a study with other values for some of its axes.
/// @param values   these values, as `Family.key=v1,v2`
/// @param writeup  measures its cases
Study varied(const char* name, const std::vector<const char*>& values, std::string_view writeup = kOf2026) {
  Study study = find_study(name, "--tb_study");
  for (const AxisOverride& change : axes_of(values)) {
    for (FamilyGrid& grid : study.grids) {
      const auto axis = std::ranges::find(grid.axes, change.axis.key, &Axis::key);
      if (grid.family == change.family && axis != grid.axes.end()) axis->values = change.axis.values;
    }
  }
  return measured_by(writeup, std::move(study));
}

/// Returns a study with the cases of another one too.
Study together(Study study, const Study& other) {
  study.grids.insert(study.grids.end(), other.grids.begin(), other.grids.end());
  return study;
}

Study with_tables_only(Study study) {
  study.row_tables.clear();
  return study;
}

Study with_row_tables_only(Study study) {
  study.tables.clear();
  return study;
}

constexpr const char* kContexts = "Model.ctx=128,256,512,1024";
constexpr const char* kOneContext = "Model.ctx=512";
constexpr const char* kOtherContexts = "Model.ctx=128,256,1024";
constexpr const char* kTwoSizes = "Model.size=small,medium";
constexpr const char* kOneSize = "Model.size=medium";
constexpr const char* kSmallest = "Model.size=small";
constexpr const char* kFloat32 = "Model.precision=fp32";
constexpr const char* kTwoPrecisions = "Model.precision=fp32,bf16";
constexpr const char* kFloat16 = "Model.precision=fp16";
constexpr const char* kLarge = "Model.size=large";
constexpr const char* kShortContext = "Model.ctx=128";
constexpr const char* kSeparate = "Attention.impl=naive,compiled";
constexpr const char* kRecomputing = "Attention.impl=naive,flash";
constexpr const char* kTenSteps = "Warmup.steps=10";
constexpr const char* kWarmUps = "Warmup.warmup=0,1,2,5";
constexpr const char* kWarmedSizes = "Warmup.size=small,medium";
constexpr const char* kWarmedPasses = "Warmup.pass=forward,forward_backward";

/// Returns a study of two sizes with 512 tokens in float32 and bfloat16, and of one size in float16, too.
Study in_three_precisions(const char* name) {
  return together(part_of(name, {kOneContext, kTwoSizes}), varied(name, {kOneContext, kOneSize, kFloat16}, kOf2025));
}

/// Returns the profile, the answers to the course first.
std::vector<Chapter> profile_chapters() {
  return {{.title = "Profile", .studies = {part_of("answers", {kOneContext, kFloat32}), part_of("profiler_overhead")}},
          {.title = "Profile: kernels",
           .studies = {part_of("top_kernels", {kFloat32}), in_three_precisions("ranked_kernels"),
                       part_of("ranked_kernels", {kShortContext, kLarge, kFloat32}),
                       part_of("products", {kOneContext, kTwoSizes}),
                       part_of("non_gemm", {kOneContext, kTwoSizes, kFloat32})}},
          {.title = "Profile: classes of kernels",
           .studies = {in_three_precisions("kernel_classes"), part_of("gemm_share"),
                       part_of("class_changes", {kOneContext})}},
          {.title = "Profile: ranges",
           .studies = {in_three_precisions("ranges"), part_of("range_kernels", {kOneContext, kSmallest, kFloat32}),
                       part_of("timelines")}},
          {.title = "Profile: launches and gaps",
           .studies = {part_of("launches", {kOneContext}), part_of("launches", {kShortContext, kLarge, kFloat32}),
                       part_of("gaps", {kOneContext, kSmallest}), part_of("gaps", {kShortContext, kLarge, kFloat32}),
                       in_three_precisions("api_calls"), part_of("api_calls", {kShortContext, kLarge, kFloat32})}},
          {.title = "Profile: attention and fusion",
           .studies = {part_of("softmax_vs_matmul"), part_of("attention_parts", {kOneContext}),
                       part_of("attention_parts", {kOtherContexts, kSmallest}), part_of("fusion", {kTwoSizes})}}};
}

/// Returns the chapters with `others` inserted before chapter `at`.
std::vector<Chapter> inserted(std::vector<Chapter> chapters, std::size_t at, std::vector<Chapter> others) {
  chapters.insert(chapters.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(others.begin()),
                  std::make_move_iterator(others.end()));
  return chapters;
}

constexpr std::size_t kProfileAt = 3;  // after the chapters of sizes, time and warm-up

/// Returns the chapters of 2025: five sizes from small to 2.7B, 128 to 1,024 tokens.
std::vector<Chapter> chapters_of_2025() {
  std::vector<Chapter> chapters{
      {.title = "Model sizes", .studies = {part_of("sizes")}},
      {.title = "Time and throughput of a step",
       .studies = {part_of("end_to_end", {kContexts, kTwoPrecisions}),
                   part_of("end_to_end", {kOneContext, kOneSize, kFloat16}),
                   part_of("end_to_end", {kShortContext, "Model.size=small,medium,large",
                                          "Model.pass=forward,forward_backward", kFloat16}),
                   part_of("end_to_end", {"Model.ctx=64", kOneSize, kFloat32}), part_of("phases"),
                   part_of("batch", {kOneSize, "Model.precision=bf16", "Model.batch=4,16"})}},
      {.title = "Warm-up", .studies = {part_of("warmup", {kWarmedSizes, kTenSteps, kWarmUps, kWarmedPasses})}},
      {.title = "Mixed precision",
       .studies = {part_of("accumulation", {"Accumulation.op=sum"}), part_of("autocast"),
                   part_of("precision", {kTwoPrecisions})}},
      {.title = "Memory",
       .studies = {with_tables_only(part_of("memory", {kContexts})),
                   with_row_tables_only(part_of("memory", {kOneContext, kOneSize}))}},
      {.title = "Attention",
       .studies = {part_of("attention_grid", {kSeparate}),
                   part_of("attention_grid", {kRecomputing, "Attention.d_model=64"}), part_of("tf32", {kSeparate})}},
      {.title = "Scaling", .studies = {part_of("scaling")}}};
  return inserted(std::move(chapters), kProfileAt, profile_chapters());
}

constexpr const char* kLargeContexts = "Model.ctx=256,512,1024";
constexpr const char* kSizesOf2026 = "Model.size=small,medium,large,2.7B";

/// Returns a study of the sizes of 2026: `xl` of that edition is 2.7B here, and 10B, whose weights alone take 48 GiB,
/// runs forward alone.
Study of_all_sizes(const char* name, std::vector<const char*> values) {
  values.push_back(kSizesOf2026);
  const Study usual = varied(name, values);
  values.insert(values.end(), {"Model.size=10B", "Model.pass=forward"});
  return together(usual, varied(name, values));
}

Study kept_of_2026(const char* name, std::initializer_list<const char*> kept) {
  return measured_by(kOf2026, restricted(find_study(name, "--tb_study"), axes_of(kept)));
}

std::vector<Chapter> profile_of_2026() {
  return {{.title = "Profile",
           .studies = {varied("answers", {kOneContext, kFloat32, kTwoSizes}),
                       varied("profiler_overhead", {kLargeContexts, kTwoSizes})}},
          {.title = "Profile: kernels",
           .studies = {varied("top_kernels", {kLargeContexts, kTwoSizes, kFloat32}),
                       varied("ranked_kernels", {kOneContext, kTwoSizes}), varied("products", {kOneContext, kTwoSizes}),
                       varied("non_gemm", {kOneContext, kTwoSizes, kFloat32})}},
          {.title = "Profile: classes of kernels",
           .studies = {varied("kernel_classes", {kOneContext, kTwoSizes}),
                       varied("gemm_share", {kLargeContexts, kTwoSizes}),
                       varied("class_changes", {kOneContext, kTwoSizes})}},
          {.title = "Profile: ranges",
           .studies = {varied("ranges", {kOneContext, kTwoSizes}),
                       varied("range_kernels", {kOneContext, kSmallest, kFloat32}), varied("timelines", {})}},
          {.title = "Profile: launches and gaps",
           .studies = {varied("launches", {kOneContext, kTwoSizes}), varied("gaps", {kOneContext, kSmallest}),
                       varied("api_calls", {kOneContext, kSmallest})}},
          {.title = "Profile: attention and fusion",
           .studies = {varied("softmax_vs_matmul", {kLargeContexts, kTwoSizes}),
                       varied("attention_parts", {kOneContext, kTwoSizes}), varied("fusion", {kTwoSizes})}}};
}

/// Returns the chapters of 2026, without checkpointing and sharding.
std::vector<Chapter> chapters_of_2026() {
  constexpr const char* kWidths = "Attention.d_model=16,32,64,128";
  constexpr const char* kLengths = "Attention.seq_len=256,1024,4096,8192,16384";
  std::vector<Chapter> chapters{
      {.title = "Model sizes", .studies = {of_all_sizes("sizes", {})}},
      {.title = "Time and throughput of a step",
       .studies = {of_all_sizes("end_to_end", {kContexts, kTwoPrecisions}), varied("phases", {kSizesOf2026})}},
      {.title = "Warm-up", .studies = {varied("warmup", {kWarmedSizes, kTenSteps, kWarmUps, kWarmedPasses})}},
      {.title = "Mixed precision",
       .studies = {kept_of_2026("accumulation", {"Accumulation.op=sum"}), varied("autocast", {}),
                   varied("precision", {kTwoPrecisions, kSizesOf2026})}},
      {.title = "Memory",
       .studies = {with_tables_only(
                       varied("memory", {"Model.size=2.7B", "Model.ctx=128,2048", "Model.pass=forward,train_step"})),
                   with_row_tables_only(
                       varied("memory", {"Model.size=2.7B", "Model.ctx=128", "Model.pass=forward,train_step"}))}},
      {.title = "Attention",
       .studies = {kept_of_2026("attention_grid", {kSeparate, kWidths, kLengths}),
                   kept_of_2026("attention_grid", {kRecomputing, "Attention.d_model=64", kLengths}),
                   kept_of_2026("tf32", {kSeparate, kWidths, kLengths})}},
      {.title = "Scaling", .studies = {varied("scaling", {kSizesOf2026})}}};
  return inserted(std::move(chapters), kProfileAt, profile_of_2026());
}

}  // namespace

std::vector<std::string> not_shown() {
  return {
      "Not shown, because no record has it: the sizes of a profiler's files; copies to the GPU before the first step; "
      "the first step, in which AdamW makes its state.",
      "Not part of this run: compiled models, which need the packages of tools/compile_model.py and have the study "
      "step. Compiled attention is part of a run with the packages of tools/compile_attention.py (--tb_packages)."};
}

std::span<const BuiltInWriteup> built_in_writeups() {
  static constexpr std::array kAll{
      BuiltInWriteup{.name = kOf2025,
                     .title = "A transformer's time, memory and kernels, with the answers to the course",
                     .chapters = &chapters_of_2025},
      BuiltInWriteup{.name = kOf2026,
                     .title = "A transformer's time, memory and kernels, with the answers to the course of 2026",
                     .chapters = &chapters_of_2026}};
  return kAll;
}

}  // namespace tbench::studies
