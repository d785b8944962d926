// Dispatch of a precision to its storage type, and the checks that launch functions share.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

template <class T>
struct TypeTag {
  using Type = T;
};

/// Calls `use` with the TypeTag of the storage type.
/// @throws  std::invalid_argument  for kTf32, which is not a storage type
template <class Use>
decltype(auto) with_storage_type(std::string_view op, Precision precision, const Use& use) {
  switch (precision) {
    case Precision::kFp32:
      return use(TypeTag<float>{});
    case Precision::kBf16:
      return use(TypeTag<__nv_bfloat16>{});
    case Precision::kFp16:
      return use(TypeTag<__half>{});
    default:
      throw std::invalid_argument{std::string{op} + ": " + std::string{to_string(precision)} +
                                  " is not a storage type: use fp32, bf16 or fp16"};
  }
}

[[nodiscard]] constexpr std::int64_t storage_bytes(Precision precision) {
  return precision == Precision::kBf16 || precision == Precision::kFp16 ? 2 : 4;
}

/// Whether all pointers that are not null are multiples of `bytes`.
[[nodiscard]] inline bool are_aligned(std::initializer_list<const void*> pointers, std::uintptr_t bytes) {
  for (const void* const pointer : pointers) {
    if (reinterpret_cast<std::uintptr_t>(pointer) % bytes != 0) return false;
  }
  return true;
}

/// Checks required pointers.
/// @throws  std::invalid_argument  if a pointer is null
inline void check_pointers(std::string_view op, std::initializer_list<const void*> pointers) {
  for (const void* const pointer : pointers) {
    if (pointer == nullptr) throw std::invalid_argument{std::string{op} + ": a required pointer is null"};
  }
}

/// Checks the range of an extent.
/// @throws  std::invalid_argument  unless least <= value <= most
inline void check_extent(std::string_view op, std::string_view name, std::int64_t value, std::int64_t least,
                         std::int64_t most) {
  if (value >= least && value <= most) return;
  throw std::invalid_argument{std::string{op} + ": " + std::string{name} + " is " + std::to_string(value) +
                              "; expected " + std::to_string(least) + " to " + std::to_string(most)};
}

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

}  // namespace tbench::kernels
