// The data of operations: seeded normal values, since zeros and constants run faster and hide errors.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>

#include "tbench/model/device.hpp"

namespace tbench::model {

/// A contiguous tensor of independent values of the standard normal distribution: the same for the same arguments on
/// the same kind of device, others for every buffer of a case. Values are drawn in float32 and then rounded to `dtype`,
/// which needs room for both, so that the precisions of one case are given the same numbers.
/// @param seed   of the run, CaseContext::seed
/// @param index  of the buffer in its case: 0, 1, ...
/// @throws       c10::OutOfMemoryError
[[nodiscard]] at::Tensor seeded_normal(at::IntArrayRef shape, at::ScalarType dtype, DeviceKind device,
                                       std::uint64_t seed, std::uint64_t index);

}  // namespace tbench::model
