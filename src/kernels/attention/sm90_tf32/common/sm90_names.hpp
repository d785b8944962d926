// The TF32 kernels are built from parts of the 16-bit kernels.
#pragma once

namespace tbench::kernels {

namespace sm90 {}

/// Finds the names of the 16-bit kernels. Names that both namespaces declare mean the TF32 ones here.
namespace sm90_tf32 {
using namespace sm90;
}

}  // namespace tbench::kernels
