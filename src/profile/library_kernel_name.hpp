// Short names of cuBLAS's products, whose names list all parameters of the kernel.
#pragma once

#include <optional>
#include <string>

namespace tbench::profile {

/// Returns `sm80_xmma_gemm [f32 tn 64x64x8 split_k]` for `sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_..._
/// execute_split_k_kernel__5x_cublas`: the type of the multiplied elements, the layouts, the tile, and how the product
/// is divided. Returns nullopt for any other name.
[[nodiscard]] std::optional<std::string> xmma_kernel_name(const std::string& name);

}  // namespace tbench::profile
