// Names of kernels and of functions of the CUDA API: readable forms of them, and the precision of a matrix product that
// a name shows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/enums.hpp"
#include "tbench/core/step_trace.hpp"

namespace tbench::profile {

/// Returns the demangled name of a C++ symbol. A name that is not mangled is returned unchanged.
[[nodiscard]] std::string demangled_name(const std::string& symbol);

/// Returns the qualified name of a kernel's function without return type, template arguments and parameters, such as
/// "pytorch_flash::flash_fwd_kernel". Other names ("triton_red_fused_0", "CUDA graph 5") are returned unchanged.
/// @param symbol  mangled, demangled (by GNU's or NVIDIA's demangler), or neither; returned unchanged if it cannot be
///                parsed
[[nodiscard]] std::string kernel_name(const std::string& symbol);

/// Returns the current name of a kernel of this project that was traced under an older name (kernel_renames.tsv). The
/// template arguments and parameters are renamed too. Other names are returned unchanged.
/// @param demangled  the full name, as in results files
[[nodiscard]] std::string current_kernel_name(const std::string& demangled);

/// Returns the name of a function of the CUDA API without its version, such as `cudaLaunchKernel` for
/// `cudaLaunchKernel_v7000`.
[[nodiscard]] std::string without_version(std::string name);

/// The type of the inputs of the multiplications in a matrix product.
enum class ProductPrecision { kFp32, kTf32, k16Bit, k8Bit };

/// Reads the type from the structure of the names of cuBLAS, CUTLASS and its generators; returns nullopt for a name
/// that does not show it.
[[nodiscard]] std::optional<ProductPrecision> product_precision(std::string_view kernel);

/// Returns the reason why the matrix products of a step cannot have `precision`, or nullopt. In fp32, a single product
/// whose name shows another precision is a reason. In the other precisions, there is a reason only if the names of all
/// products show their precision and no product runs in the expected one.
/// @param step  trace of a case with that precision
[[nodiscard]] std::optional<std::string> product_problem(const StepTrace& step, Precision precision);

}  // namespace tbench::profile
