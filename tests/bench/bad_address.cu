#include <cstdint>
#include <stdexcept>

#include "bad_address.hpp"

namespace tbench::bench {
namespace {

__global__ void write_kernel(int* address) { *address = 1; }

}  // namespace

void write_to_bad_address() {
  write_kernel<<<1, 1>>>(reinterpret_cast<int*>(std::uintptr_t{0x10}));
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) throw std::runtime_error{cudaGetErrorString(error)};
}

}  // namespace tbench::bench
