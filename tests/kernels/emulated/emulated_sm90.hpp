// What the emulated kernels of Hopper, forward and backward, are given.
#pragma once

#include "emulated/emulated_problem.hpp"
#include "kernels/attention/sm90/primitives_sm90.cuh"

namespace tbench::kernels::sm90 {

/// Of 16-bit elements of `kColumns` columns, `rows` of them a head.
template <int kColumns>
CUtensorMap emulated_map(const TensorView& view, int rows, int box_rows) {
  return tensor_map({.data = static_cast<char*>(view.data),
                     .batch_stride = view.strides[0] * 2,
                     .head_stride = view.strides[1] * 2,
                     .row_stride = view.strides[2] * 2,
                     .rows = rows,
                     .columns = kColumns,
                     .box_rows = box_rows,
                     .rounds_to_tf32 = false});
}

}  // namespace tbench::kernels::sm90
