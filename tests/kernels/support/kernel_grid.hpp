// The existing kernels, one for each precision and head_dim, and the sequence lengths of their tests.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

struct KernelOfGrid {
  Precision precision{};
  std::int64_t head_dim{};
};

/// Returns all kernels. head_dim 256 exists only in the 16-bit types.
inline std::vector<KernelOfGrid> kernel_grid() {
  std::vector<KernelOfGrid> grid;
  for (const Precision precision : kAllOf<Precision>) {
    for (const std::int64_t head_dim : {16, 32, 64, 80, 96, 128}) grid.push_back({precision, head_dim});
  }
  grid.push_back({Precision::kBf16, 256});
  grid.push_back({Precision::kFp16, 256});
  return grid;
}

inline std::string name_of_kernel(const testing::TestParamInfo<KernelOfGrid>& info) {
  return fmt::format("{}_d{}", to_string(info.param.precision), info.param.head_dim);
}

struct SequenceShape {
  std::int64_t seq_q{};
  std::int64_t seq_kv{};
  bool causal{};
};

/// Shapes with one or two rows, with lengths on both sides of 64 and 128 (the tiles' edges), and with whole tiles.
inline constexpr std::array kShortShapes{
    SequenceShape{1, 1, true},      SequenceShape{1, 1, false},    SequenceShape{2, 2, true},
    SequenceShape{2, 3, false},     SequenceShape{1, 129, false},  SequenceShape{129, 1, false},
    SequenceShape{63, 63, true},    SequenceShape{65, 65, true},   SequenceShape{63, 65, false},
    SequenceShape{64, 64, true},    SequenceShape{127, 127, true}, SequenceShape{129, 129, true},
    SequenceShape{127, 129, false}, SequenceShape{128, 128, true}, SequenceShape{256, 256, false},
};
inline constexpr std::array kMediumShapes{
    SequenceShape{1000, 1000, true}, SequenceShape{1000, 1000, false}, SequenceShape{65, 1000, false},
    SequenceShape{1000, 129, false}, SequenceShape{512, 512, true},
};
inline constexpr std::array kLongShapes{
    SequenceShape{4097, 4097, true},
    SequenceShape{4097, 4097, false},
    SequenceShape{2, 4097, false},
    SequenceShape{4097, 63, false},
};

/// Shapes for extreme inputs.
inline constexpr std::array kExtremeShapes{SequenceShape{257, 257, true}, SequenceShape{65, 300, false},
                                           SequenceShape{65, 1100, false}};

}  // namespace tbench::kernels
