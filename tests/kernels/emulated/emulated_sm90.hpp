// Parameters of the emulated sm90 kernels, forward and backward.
#pragma once

#include "emulated/emulated_problem.hpp"
#include "kernels/attention/sm90/common/ptx.cuh"

namespace tbench::kernels::sm90 {

/// Makes the emulator's TMA descriptor: elements of `kElementBytes` bytes, `kColumns` per row, `rows` rows per head,
/// panels of `kPanel` 16-bit columns.
template <int kColumns, int kElementBytes = 2, int kPanel = panel_columns(kColumns* kElementBytes / 2)>
CUtensorMap emulated_map(const TensorView& view, int rows, int box_rows, bool rounds_to_tf32 = false) {
  return make_tma_descriptor({.data = static_cast<char*>(view.data),
                              .batch_stride = view.strides[0] * kElementBytes,
                              .head_stride = view.strides[1] * kElementBytes,
                              .row_stride = view.strides[2] * kElementBytes,
                              .rows = rows,
                              .columns = kColumns * kElementBytes / 2,
                              .box_rows = box_rows,
                              .panel_columns = kPanel,
                              .rounds_to_tf32 = rounds_to_tf32});
}

}  // namespace tbench::kernels::sm90
