// The names of kernels: as people read them, and the arithmetic of a matrix product that they show.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/enums.hpp"
#include "tbench/core/step_trace.hpp"

namespace tbench::profile {

/// The name with which C++ declares the function of a mangled symbol; what is not mangled comes back as it is.
[[nodiscard]] std::string demangled_name(const std::string& symbol);

/// The qualified name of a kernel's function without return type, template arguments and parameters:
/// "pytorch_flash::flash_fwd_kernel". Names that C++ did not make ("triton_red_fused_0", "CUDA graph 5") stay as they
/// are.
/// @param symbol  mangled, demangled (by GNU's or NVIDIA's demangler), or neither; what cannot be read comes back as it
/// is
[[nodiscard]] std::string kernel_name(const std::string& symbol);

/// The present name of one of this project's kernels that was traced under an older name (kernel_renames.tsv). Its
/// template arguments and parameters are renamed, too. Other names stay as they are.
/// @param demangled  the whole name, as results files have it
[[nodiscard]] std::string current_kernel_name(const std::string& demangled);

/// The type of the multipliers' inputs.
enum class ProductPrecision { kFp32, kTf32, k16Bit, k8Bit };

/// Reads the type from the structure of the names of cuBLAS, CUTLASS and its generators; returns nullopt for a name
/// that does not show it.
[[nodiscard]] std::optional<ProductPrecision> product_precision(std::string_view kernel);

/// Returns why the matrix products of a step cannot have `precision`, or nullopt: no product whose name tells its
/// precision runs in `precision`, or a product of float32 without TF32 runs in less. Where a name does not tell, the
/// step is not accused.
/// @param step  trace of a case of that precision
[[nodiscard]] std::optional<std::string> product_problem(const StepTrace& step, Precision precision);

}  // namespace tbench::profile
