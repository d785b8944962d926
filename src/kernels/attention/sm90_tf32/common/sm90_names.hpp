// The TF32 kernels are built from parts of the 16-bit kernels.
#pragma once

namespace tbench::kernels {

namespace sm90 {}

/// Makes the names of the 16-bit kernels visible. If both namespaces declare a name, it means the TF32 declaration
/// here.
namespace sm90_tf32 {
using namespace sm90;
}

}  // namespace tbench::kernels
