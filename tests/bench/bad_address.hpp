// A kernel that ruins its CUDA context.
#pragma once

namespace tbench::bench {

/// Writes to an address that no allocation owns, and waits for the device.
/// @throws  std::runtime_error  with CUDA's error, without a GPU too
void write_to_bad_address();

}  // namespace tbench::bench
