#include "tbench/profile/flame_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/core/text.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::profile {
namespace {

constexpr std::size_t kNoRange = static_cast<std::size_t>(-1);

struct Sum {
  std::int64_t operations{};
  std::int64_t total_ns{};
  void add(const RangeKernelTime& kernel) {
    operations += kernel.operations;
    total_ns += kernel.total_ns;
  }
};

/// The sums of one frame's parts, by name.
using Parts = std::map<std::string, Sum>;
std::vector<std::pair<std::string, Sum>> longest_first(const Parts& parts) {
  std::vector<std::pair<std::string, Sum>> sorted(parts.begin(), parts.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second.total_ns > b.second.total_ns; });
  return sorted;
}

std::string kernel_label(const RangeKernelTime& kernel) {
  return kernel.kind == OperationKind::kKernel ? kernel_name(kernel.name) : kernel.name;
}

/// Returns the sum of each row, including the ranges inside it.
std::map<std::size_t, Sum> range_sums(const Profile& profile) {
  std::map<std::size_t, Sum> sums;
  for (const RangeKernelTime& kernel : profile.range_kernels) {
    if (!kernel.range) {
      sums[kNoRange].add(kernel);
      continue;
    }
    for (std::size_t row = *kernel.range;; row = profile.ranges[row].parent) {
      sums[row].add(kernel);
      if (profile.ranges[row].depth == 0) break;
    }
  }
  return sums;
}

/// Returns a name as one frame of a line, with commas for semicolons.
std::string frame(std::string_view name) {
  std::string text = render::one_line(name);
  std::ranges::replace(text, ';', ',');
  return text;
}

/// Returns the frames of row `row` and of the ranges around it, each followed by a semicolon.
std::string frames_of(const Profile& profile, std::size_t row) {
  std::vector<std::string> frames{frame(profile.ranges[row].label)};
  while (profile.ranges[row].depth > 0) {
    row = profile.ranges[row].parent;
    frames.push_back(frame(profile.ranges[row].label));
  }
  std::ranges::reverse(frames);
  return join(frames, ";") + ";";
}

}  // namespace

std::vector<FlameFrame> flame_frames(const Profile& profile) {
  std::vector<FlameFrame> frames;
  const auto add = [&](std::string name, FlameKind kind, std::optional<std::size_t> parent, const Sum& sum) {
    frames.push_back({.name = std::move(name),
                      .kind = kind,
                      .parent = parent,
                      .operations = sum.operations,
                      .total_ns = sum.total_ns});
    return frames.size() - 1;
  };
  std::map<std::size_t, std::size_t> frame_of_row;
  for (const auto& [row, sum] : range_sums(profile)) {  // each range precedes the ranges inside it
    if (row == kNoRange) {
      frame_of_row[row] = add("(no range)", FlameKind::kRange, std::nullopt, sum);
      continue;
    }
    const RangeTime& range = profile.ranges[row];
    const auto parent = range.depth > 0 ? std::optional{frame_of_row.at(range.parent)} : std::nullopt;
    frame_of_row[row] = add(range.label, FlameKind::kRange, parent, sum);
  }
  std::map<std::size_t, std::map<KernelClass, Parts>> kernels;  // by row and class
  for (const RangeKernelTime& kernel : profile.range_kernels) {
    kernels[kernel.range.value_or(kNoRange)][kernel.kernel_class][kernel_label(kernel)].add(kernel);
  }
  for (const auto& [row, classes] : kernels) {
    Parts class_sums;
    std::map<std::string, const Parts*> kernels_of;
    for (const auto& [kernel_class, parts] : classes) {
      const std::string name{to_string(kernel_class)};
      kernels_of[name] = &parts;
      for (const auto& [kernel, sum] : parts) {
        class_sums[name].operations += sum.operations;
        class_sums[name].total_ns += sum.total_ns;
      }
    }
    for (const auto& [name, sum] : longest_first(class_sums)) {
      const std::size_t frame = add(name, FlameKind::kClass, frame_of_row.at(row), sum);
      for (const auto& [kernel, part] : longest_first(*kernels_of.at(name)))
        add(kernel, FlameKind::kKernel, frame, part);
    }
  }
  return frames;
}

std::string folded_stacks(const Profile& profile) {
  std::map<std::string, std::int64_t> total_ns;  // kernels that differ only in template arguments share an entry
  for (const RangeKernelTime& kernel : profile.range_kernels) {
    const std::string ranges = kernel.range ? frames_of(profile, *kernel.range) : "(no range);";
    const std::string name = frame(kernel.kind == OperationKind::kKernel ? kernel_name(kernel.name) : kernel.name);
    total_ns[fmt::format("{}{};{}", ranges, to_string(kernel.kernel_class), name)] += kernel.total_ns;
  }
  std::string text;
  for (const auto& [stack, ns] : total_ns) text += fmt::format("{} {}\n", stack, ns);
  return text;
}

}  // namespace tbench::profile
