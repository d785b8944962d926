// Reads what tools/make_model_reference.py wrote: PyTorch's results for a very small model.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "tbench/model/model_step.hpp"
#include "tbench/model/parameters.hpp"

namespace tbench::model {

/// @throws  std::runtime_error  naming the tensor, if there is none of that name
[[nodiscard]] at::Tensor reference_tensor(const std::string& name);

/// The reference's model on the CPU.
[[nodiscard]] ModelStepConfig reference_config(const std::string& impl, Pass pass, Precision precision);

/// Sets every parameter to the reference's initial value.
void load_initial_values(const Parameters& parameters);

/// ||actual - expected|| / ||expected||, in float64.
[[nodiscard]] double relative_error(const at::Tensor& actual, const at::Tensor& expected);

}  // namespace tbench::model
