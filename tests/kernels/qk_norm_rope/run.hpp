// Runs the kernels of the norms of q and k with rope on a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "qk_norm_rope/reference.hpp"
#include "support/device_array.hpp"
#include "tbench/kernels/qk_norm_rope.hpp"

namespace tbench::kernels {

/// Returns y, dx and the gradients of q's and k's weight, in this order.
/// @param in_place  whether y overwrites x and dx overwrites dy; the backward pass has its own x
inline std::vector<QkResult> run_qk_norm_rope(const QkExtents& e, Precision precision, const QkInputs& in,
                                              bool in_place) {
  const QkNormRopeShape shape = shape_of(e, precision);
  const auto count = static_cast<std::int64_t>(in.x.size());
  const DeviceArray x{in.x, precision, e.offset}, dy{in.dy, precision, e.offset}, own_x{in.x, precision, e.offset};
  const DeviceArray y{count, precision, e.offset}, dx{count, precision, e.offset};
  const DeviceArray q_weight{in.q_weight, Precision::kFp32, e.offset},
      k_weight{in.k_weight, Precision::kFp32, e.offset};
  const DeviceArray cos{in.cos, Precision::kFp32, e.offset}, sin{in.sin, Precision::kFp32, e.offset};
  const DeviceArray dq_weight{e.head_dim, Precision::kFp32}, dk_weight{e.head_dim, Precision::kFp32};
  const DeviceArray workspace{qk_norm_workspace_bytes(shape) / 4, Precision::kFp32};
  const auto heads = [&](const DeviceArray& array) { return QkHeads{.data = array.data(), .stride = e.stride()}; };
  const QkNormRopeConstants constants{
      .q_weight = q_weight.floats(), .k_weight = k_weight.floats(), .cos = cos.floats(), .sin = sin.floats()};
  const DeviceArray &to_y = in_place ? x : y, &to_dx = in_place ? dy : dx;
  qk_norm_rope_forward(shape, {.constants = constants, .x = heads(x), .y = heads(to_y)}, nullptr);
  qk_norm_rope_backward(
      shape,
      {.constants = constants, .x = heads(own_x), .dy = heads(dy), .dx = heads(to_dx), .workspace = workspace.floats()},
      nullptr);
  const std::vector<QkNormShares> layers{
      {.workspace = workspace.floats(), .dq_weight = dq_weight.floats(), .dk_weight = dk_weight.floats()}};
  qk_norm_weight_gradients(shape, layers, nullptr);
  static_cast<void>(workspace.read());  // checks its guards
  return {{.name = "y", .values = to_y.read(), .allowed = {}},
          {.name = "dx", .values = to_dx.read(), .allowed = {}},
          {.name = "dq_weight", .values = dq_weight.read(), .allowed = {}},
          {.name = "dk_weight", .values = dk_weight.read(), .allowed = {}}};
}

}  // namespace tbench::kernels
