// Selects the products of the backward pass that run concurrently with weight updates, and the share of the GPU that
// the updates get. The rule rests on measurements alone.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tbench::model {

struct UpdatePlan {
  /// SMs that updates take. The products that run at the same time have no room on them, and are planned for the other
  /// SMs.
  int multiprocessors{};
  /// Whether a layer's updates begin with the previous layer and run concurrently with all of its products. Otherwise
  /// they begin after the activation's gradient and run only with the three largest products.
  bool beside_all{};
  bool operator==(const UpdatePlan&) const = default;
};

/// Selects the plan. The times of train steps on an H200, in ms (512 tokens, bf16, as graphs), with a third or a
/// quarter of the SMs for updates, next to all products or next to three products:
///     d_model  all, third    three, third  three, quarter
///     1,024    14.2          13.6 to 13.7  13.3
///     1,280    29.0          28.6          30.0
///     1,600    58.5 to 59.3  57.9          58.9
///     2,560    89.0          92.1          96.7
/// @param d_model          d_model of the model
/// @param multiprocessors  SMs of the device
[[nodiscard]] constexpr UpdatePlan update_plan(std::int64_t d_model, int multiprocessors) {
  constexpr std::int64_t kNarrow = 1024, kWide = 2048;
  return {.multiprocessors = std::max(multiprocessors / (d_model <= kNarrow ? 4 : 3), 1),
          .beside_all = d_model > kWide};
}

}  // namespace tbench::model
