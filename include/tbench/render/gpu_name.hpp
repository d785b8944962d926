// The name that people call a GPU model by.
#pragma once

#include <string>
#include <string_view>

namespace tbench::render {

/// Returns the driver's name of a GPU without vendor, brand, memory and form factor: `H100` for `NVIDIA H100 80GB
/// HBM3`, `A100` for `NVIDIA A100-SXM4-80GB`, `RTX 4090` for `NVIDIA GeForce RTX 4090`. Returns the name itself if
/// nothing is left of it.
[[nodiscard]] std::string short_gpu_name(std::string_view name);

}  // namespace tbench::render
