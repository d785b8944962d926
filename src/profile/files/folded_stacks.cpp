#include "profile/files/folded_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "tbench/core/text.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::profile {
namespace {

/// A name as one frame of a line.
std::string frame(std::string_view name) {
  std::string text = render::one_line(name);
  std::ranges::replace(text, ';', ',');
  return text;
}

/// The ranges around row `row` and itself, each with a semicolon behind it.
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

std::string folded_stacks(const Profile& profile) {
  std::map<std::string, std::int64_t> total_ns;  // kernels that differ in template arguments alone are one
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
