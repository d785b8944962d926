#include "profile/derived_times.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "profile/ranges.hpp"

namespace tbench::profile {
namespace {

constexpr std::array<std::string_view, 2> kProjections{"attention.qkv", "attention.out_proj"};
constexpr std::array<std::string_view, 1> kLayers{"layer.*"};
constexpr std::array<std::string_view, 1> kAttention{"attention"};

bool is_pass(const RangeTime& range) { return is_label(range.label, "FORWARD") || is_label(range.label, "BACKWARD"); }

/// One past the last row inside of row `outer`: rows come in the order of the tree.
std::size_t end_of(const std::vector<RangeTime>& ranges, std::size_t outer) {
  std::size_t end = outer + 1;
  while (end < ranges.size() && ranges[end].depth > ranges[outer].depth) ++end;
  return end;
}

/// The rows inside of row `outer` with one of the labels, but for those inside of another one.
std::vector<std::size_t> labelled_inside(const std::vector<RangeTime>& ranges, std::size_t outer,
                                         std::span<const std::string_view> labels) {
  std::vector<std::size_t> found;
  const std::size_t end = end_of(ranges, outer);
  for (std::size_t i = outer + 1; i < end;) {
    const bool is_labelled = std::ranges::find(labels, ranges[i].label) != labels.end();
    if (is_labelled) found.push_back(i);
    i = is_labelled ? end_of(ranges, i) : i + 1;
  }
  return found;
}

/// Adds `sign` times the inclusive figures of `range`.
void add(DerivedRange& sum, const RangeTime& range, int sign) {
  sum.host_ns += sign * range.host.total_ns();
  sum.gpu_sum_ns += sign * range.gpu_sum_ns;
  sum.operations += sign * range.operations;
  sum.launches += sign * range.launches;
}

/// Of a row what is in no row inside of it.
void add_alone(DerivedRange& sum, const std::vector<RangeTime>& ranges, std::size_t outer) {
  add(sum, ranges[outer], 1);
  const std::size_t end = end_of(ranges, outer);
  for (std::size_t i = outer + 1; i < end; ++i) {
    if (ranges[i].parent == outer) add(sum, ranges[i], -1);
  }
}

std::vector<std::size_t> with_parts(const std::vector<RangeTime>& ranges, std::vector<std::size_t> rows) {
  std::erase_if(rows, [&](std::size_t row) { return end_of(ranges, row) == row + 1; });
  return rows;
}

/// The label of the nearest of the attention's ranges around row `row`, itself included.
std::string_view part_of_attention(const std::vector<RangeTime>& ranges, std::size_t row) {
  while (true) {
    const RangeTime& range = ranges[row];
    if (range.label == "attention.scores" || range.label == "attention.softmax" || range.label == "attention.context") {
      return range.label;
    }
    if (range.depth == 0) return {};
    row = range.parent;
  }
}

std::int64_t AttentionTime::*time_of(std::string_view part, KernelClass kernel_class) {
  const bool is_softmax = kernel_class == KernelClass::kSoftmaxForward || kernel_class == KernelClass::kSoftmaxBackward;
  if (part == "attention.softmax" || is_softmax) return &AttentionTime::softmax_ns;
  if (kernel_class != KernelClass::kGemm) return &AttentionTime::other_ns;
  return part == "attention.scores" ? &AttentionTime::scores_ns : &AttentionTime::context_ns;
}

}  // namespace

std::vector<DerivedRange> derived_ranges(const std::vector<RangeTime>& ranges) {
  const bool has_passes = std::ranges::any_of(ranges, is_pass);
  std::vector<DerivedRange> derived;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (has_passes ? !is_pass(ranges[i]) : ranges[i].depth > 0) continue;
    const auto add_if_any = [&](std::string name, const std::vector<std::size_t>& parts, const auto& add_part) {
      if (parts.empty()) return;
      DerivedRange& sum = derived.emplace_back(DerivedRange{.of = i, .name = std::move(name)});
      for (const std::size_t part : parts) add_part(sum, part);
    };
    add_if_any("projections", labelled_inside(ranges, i, kProjections),
               [&](DerivedRange& sum, std::size_t part) { add(sum, ranges[part], 1); });
    add_if_any("residual", with_parts(ranges, labelled_inside(ranges, i, kLayers)),
               [&](DerivedRange& sum, std::size_t layer) { add_alone(sum, ranges, layer); });
    const std::vector<std::size_t> attention = labelled_inside(ranges, i, kAttention);
    add_if_any("not attention", attention, [&](DerivedRange& sum, std::size_t part) { add(sum, ranges[part], -1); });
    if (!attention.empty()) add(derived.back(), ranges[i], 1);
  }
  return derived;
}

std::vector<AttentionTime> attention_times(const Profile& profile) {
  std::vector<std::optional<AttentionTime>> by_phase(profile.phases.size());
  for (const RangeKernelTime& kernel : profile.range_kernels) {
    if (!kernel.range) continue;
    const std::string_view part = part_of_attention(profile.ranges, *kernel.range);
    if (part.empty()) continue;
    std::optional<AttentionTime>& time = by_phase[kernel.phase];
    if (!time) time = AttentionTime{.phase = kernel.phase};
    (*time).*time_of(part, kernel.kernel_class) += kernel.total_ns;
  }
  std::vector<AttentionTime> times;
  for (const auto& time : by_phase) {
    if (time) times.push_back(*time);
  }
  return times;
}

}  // namespace tbench::profile
