// Panels of a tile in shared memory, and the swizzle of their 16-byte vectors.
#pragma once

namespace tbench::kernels::sm90 {

/// Numbers of columns of a panel. A tile in shared memory is a sequence of 64-column panels, whose rows have 128 bytes,
/// the span of the widest swizzle. The last panel is padded with zeros. At head_dim 32 a panel has 32 columns, because
/// half of a 64-column panel would be zeros. In the backward pass head_dim 80 has five 16-column panels and no zeros.
constexpr int kSwizzle128Cols = 64;
constexpr int kSwizzle64Cols = 32;
constexpr int kSwizzle32Cols = 16;
[[nodiscard]] constexpr int panel_columns(int head_dim) {
  return head_dim <= kSwizzle64Cols ? kSwizzle64Cols : kSwizzle128Cols;
}
[[nodiscard]] constexpr int panels(int head_dim) {
  return (head_dim + panel_columns(head_dim) - 1) / panel_columns(head_dim);
}
[[nodiscard]] constexpr int padded_columns(int head_dim) { return panels(head_dim) * panel_columns(head_dim); }

/// Returns the position of a row's 16-byte vector number `vector` within the row of its panel. Vectors are permuted by
/// XOR within their row. In rows of 128 bytes the row number permutes eight vectors (the 128-byte swizzle). In rows of
/// 64 bytes four vectors are permuted, in the same way in the two rows that share 128 bytes (the 64-byte swizzle).
template <int kRowBytes>
[[nodiscard]] constexpr int swizzled_vector(int row, int vector) {
  static_assert(kRowBytes == kSwizzle128Cols * 2 || kRowBytes == kSwizzle64Cols * 2);
  return vector ^ row / (kSwizzle128Cols * 2 / kRowBytes) % (kRowBytes / 16);
}

}  // namespace tbench::kernels::sm90
