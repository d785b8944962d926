// The flame graph of a profile: the GPU's time by range, in each by class, in each by kernel; and as text for
// https://github.com/brendangregg/FlameGraph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tbench/profile/profile.hpp"

namespace tbench::profile {

enum class FlameKind { kRange, kClass, kKernel };

struct FlameFrame {
  std::string name;  // a kernel's name has no template arguments
  FlameKind kind{};
  std::optional<std::size_t> parent{};  // index of an earlier frame; nullopt for an outermost frame
  std::int64_t operations{};            // including the frames inside
  std::int64_t total_ns{};              // sum of its operations' times, including the frames inside
};

/// Ranges in the order of their rows (those without operations are left out), then `(no range)` if there are
/// operations outside every range; then classes and kernels, the longest first. The frames inside of a range or class
/// add up to it.
[[nodiscard]] std::vector<FlameFrame> flame_frames(const Profile& profile);

/// A line for each kernel of a range, `RANGE;...;RANGE;CLASS;KERNEL NANOSECONDS`: the labels of the ranges around its
/// launch, the outermost first, or `(no range)`; kernels without template arguments; the sum of their times on the GPU.
/// Semicolons in names become commas.
[[nodiscard]] std::string folded_stacks(const Profile& profile);

}  // namespace tbench::profile
