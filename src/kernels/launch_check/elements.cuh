// Element types of operands and outputs: dispatch, and the conversions that vectors.cuh lacks.
#pragma once

#include <cuda_fp8.h>

#include <cstdint>

#include "kernels/common/vectors.cuh"
#include "tbench/kernels/launch_check.hpp"

namespace tbench::kernels {

__host__ __device__ inline float to_float(__nv_fp8_e4m3 value) { return static_cast<float>(value); }
__host__ __device__ inline float to_float(std::int64_t value) { return static_cast<float>(value); }

/// Four elements that one access reads or writes.
template <class T>
struct alignas(sizeof(T) * 4) Quad {
  T of[4];
};

template <class T>
__host__ __device__ bool is_aligned_quad(const T* place) {
  return reinterpret_cast<std::uintptr_t>(place) % sizeof(Quad<T>) == 0;
}

/// Calls action(T{}), where T is the C++ type of `type`.
template <class Action>
void with_type(ElementType type, const Action& action) {
  switch (type) {
    case ElementType::kFloat:
      return action(float{});
    case ElementType::kBf16:
      return action(__nv_bfloat16{});
    case ElementType::kFp16:
      return action(__half{});
    case ElementType::kFp8E4m3:
      return action(__nv_fp8_e4m3{});
    case ElementType::kInt64:
      return action(std::int64_t{});
  }
}

/// Does the same as with_type() in device code. One function for host and device could not call lambdas that exist on
/// only one side.
template <class Action>
__device__ void with_type_on_device(ElementType type, const Action& action) {
  switch (type) {
    case ElementType::kFloat:
      return action(float{});
    case ElementType::kBf16:
      return action(__nv_bfloat16{});
    case ElementType::kFp16:
      return action(__half{});
    case ElementType::kFp8E4m3:
      return action(__nv_fp8_e4m3{});
    case ElementType::kInt64:
      return action(std::int64_t{});
  }
}

}  // namespace tbench::kernels
