// The kernels of TF32 are built of the parts of the 16-bit ones.
#pragma once

namespace tbench::kernels {

namespace sm90 {}

/// Finds the names of the 16-bit kernels. Names that both namespaces declare mean those of TF32 here.
namespace sm90_tf32 {
using namespace sm90;
}

}  // namespace tbench::kernels
