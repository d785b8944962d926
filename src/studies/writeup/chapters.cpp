#include "studies/writeup/chapters.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

namespace tbench::studies {
namespace {

/// Returns the protocol of the write-ups that this one reproduces, but 30 passes of attention instead of 100: a pass of
/// 16,384 tokens takes up to 0.1 s, and the GPU rests for three times as long after each (bursts). 110 passes of such a
/// case took up to 47 s on an H100.
StudyProtocol protocol_of(const std::string& family, bool needs_trace) {
  if (family == "Model") return {.warm_up = 5, .samples = 10, .needs_trace = needs_trace, .verify_once = true};
  if (family == "Attention") return {.warm_up = 5, .samples = 30, .needs_trace = needs_trace};
  return {.needs_trace = needs_trace};
}

/// Returns a part of a study.
/// @param kept  the values that its axes keep, as `Family.key=v1,v2`
Study part_of(const char* name, std::initializer_list<const char*> kept = {}) {
  std::vector<AxisOverride> axes;
  for (const char* const axis : kept) axes.push_back(parse_axis_override(axis));
  Study study = restricted(find_study(name, "--tb_study"), axes);
  const bool needs_timelines = study.protocol.needs_timelines;
  study.protocol = protocol_of(study.grids.front().family, study.protocol.needs_trace);
  study.protocol.needs_timelines = needs_timelines;
  study.measured_by = kWriteup;
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
constexpr const char* kTwoSizes = "Model.size=small,medium";
constexpr const char* kOneSize = "Model.size=medium";
constexpr const char* kSmallest = "Model.size=small";
constexpr const char* kFloat32 = "Model.precision=fp32";
constexpr const char* kTwoPrecisions = "Model.precision=fp32,bf16";

Chapter profile_chapter() {
  return {
      .title = "Profile",
      .studies = {part_of("profiler_overhead"), part_of("top_kernels", {kFloat32}),
                  part_of("ranked_kernels", {kOneContext, kTwoSizes}), part_of("products", {kOneContext, kTwoSizes}),
                  part_of("non_gemm", {kOneContext, kTwoSizes, kFloat32}),
                  part_of("kernel_classes", {kOneContext, kTwoSizes}), part_of("gemm_share"),
                  part_of("class_changes", {kOneContext}), part_of("ranges", {kOneContext, kTwoSizes}),
                  part_of("range_kernels", {kOneContext, kSmallest, kFloat32}), part_of("launches", {kOneContext}),
                  part_of("gaps", {kOneContext, kSmallest}), part_of("api_calls", {kOneContext, kSmallest}),
                  part_of("timelines"), part_of("softmax_vs_matmul"), part_of("answers", {kOneContext, kFloat32})}};
}

}  // namespace

std::vector<Chapter> writeup_chapters() {
  return {
      {.title = "Model sizes", .studies = {part_of("sizes")}},
      {.title = "Time and throughput of a step",
       .studies = {part_of("end_to_end", {kContexts, kTwoPrecisions}), part_of("phases")}},
      {.title = "Warm-up", .studies = {part_of("warmup", {"Warmup.steps=10", "Warmup.pass=forward,forward_backward"})}},
      profile_chapter(),
      {.title = "Mixed precision",
       .studies = {part_of("accumulation", {"Accumulation.op=sum"}), part_of("autocast"),
                   part_of("precision", {kTwoPrecisions})}},
      {.title = "Memory",
       .studies = {with_tables_only(part_of("memory", {kContexts})),
                   with_row_tables_only(part_of("memory", {kOneContext, kOneSize}))}},
      {.title = "Attention",
       .studies = {part_of("attention_grid", {"Attention.impl=naive"}), part_of("tf32", {"Attention.impl=naive"})}},
      {.title = "Scaling", .studies = {part_of("scaling")}}};
}

}  // namespace tbench::studies
