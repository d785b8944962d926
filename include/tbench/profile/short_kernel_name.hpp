// Short names of kernels for tables and plots: `elementwise_kernel [mul bf16]` instead of a name with 400 characters.
#pragma once

#include <map>
#include <span>
#include <string>

namespace tbench::profile {

/// Returns the name of the kernel's function without namespaces. A kernel of LibTorch that takes its operation as a
/// template argument is followed by the operation and the type of its elements: `reduce_kernel [mean f32]`. A kernel of
/// CUTLASS's launcher has the name of the product that it launches, and cuBLAS's has type, layouts and tile alone:
/// `sm80_xmma_gemm [f32 tn 64x64x8]`. Other names are returned unchanged.
/// @param symbol  as for kernel_name()
[[nodiscard]] std::string short_kernel_name(const std::string& symbol);

/// Returns a short name for each of the names. Two names with the same short name also show the template arguments in
/// which they differ, or a number if their template arguments are equal.
[[nodiscard]] std::map<std::string, std::string> short_kernel_names(std::span<const std::string> symbols);

}  // namespace tbench::profile
