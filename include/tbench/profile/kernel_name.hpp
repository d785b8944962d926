// The names of kernels as people read them.
#pragma once

#include <string>

namespace tbench::profile {

/// The name with which C++ declares the function of a mangled symbol; what is not mangled comes back as it is.
[[nodiscard]] std::string demangled_name(const std::string& symbol);

/// The qualified name of a kernel's function without return type, template arguments and parameters:
/// "pytorch_flash::flash_fwd_kernel". Names that C++ did not make ("triton_red_fused_0") stay as they are.
/// @param symbol  mangled, demangled (by GNU's or NVIDIA's demangler), or neither; what cannot be read comes back as it
/// is
[[nodiscard]] std::string kernel_name(const std::string& symbol);

}  // namespace tbench::profile
