// The flame graph of a profile, which divides the GPU's time by range, then by class, then by kernel. Also its text
// form for https://github.com/brendangregg/FlameGraph.
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
  std::string name;  // the name of a kernel is without template arguments
  FlameKind kind{};
  std::optional<std::size_t> parent{};  // index of an earlier frame; nullopt for an outermost frame
  std::int64_t operations{};            // including the frames inside
  std::int64_t total_ns{};              // sum of its operations' times, including the frames inside
};

/// Returns the frames of all ranges with operations in the order of Profile::ranges, then `(no range)` if there are
/// operations outside every range, then classes and kernels, the longest first. The frames inside a range or class add
/// up to its time.
[[nodiscard]] std::vector<FlameFrame> flame_frames(const Profile& profile);

/// Returns a line for each kernel of a range, `RANGE;...;RANGE;CLASS;KERNEL NANOSECONDS`. The ranges are the labels
/// around its launch, the outermost first, or `(no range)`. The kernel's name is without template arguments, and the
/// number is the sum of its times on the GPU. Semicolons in names become commas.
[[nodiscard]] std::string folded_stacks(const Profile& profile);

}  // namespace tbench::profile
