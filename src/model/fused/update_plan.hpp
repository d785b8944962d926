// Where backward's weights are updated beside its products, and by how much of the GPU: a rule from measurements alone.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tbench::model {

struct UpdatePlan {
  /// That updates take, on which products beside them have no room: these are planned for the others.
  int multiprocessors{};
  /// A layer's updates begin with the layer before it and run beside all of its products; or they begin behind the
  /// activation's gradient and run beside the three largest alone.
  bool beside_all{};
  bool operator==(const UpdatePlan&) const = default;
};

/// Train steps at 512 tokens, bf16, as graphs, H200, ms; a third of the multiprocessors next to all products / a third
/// and a quarter beside three. d_model 1,024: 14.2 / 13.6 to 13.7, 13.3; 1,280: 29.0 / 28.6, 30.0; 1,600: 58.5 to 59.3
/// / 57.9, 58.9; 2,560: 89.0 / 92.1, 96.7.
/// @param d_model          d_model of the model
/// @param multiprocessors  SMs of the device
[[nodiscard]] constexpr UpdatePlan update_plan(std::int64_t d_model, int multiprocessors) {
  constexpr std::int64_t kNarrow = 1024, kWide = 2048;
  return {.multiprocessors = std::max(multiprocessors / (d_model <= kNarrow ? 4 : 3), 1),
          .beside_all = d_model > kWide};
}

}  // namespace tbench::model
