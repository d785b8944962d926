// `compiled`: a model's step as torch.compile builds it, compiled ahead of time by tools/compile_model.py.
#pragma once

#include <memory>

#include "model/training/model_passes.hpp"

namespace tbench::model {

/// Loads the case's packages. A step allocates the memory that it needs, as torch.compile's step does.
/// @param inputs  inputs whose parameters have q, k and v of a layer in one leaf, and w1 and w3 in two
/// @throws        Unsupported  for a package that is damaged, or made for anything but this case on this machine
[[nodiscard]] std::unique_ptr<ModelPasses> make_compiled_passes(const PassesInputs& inputs);

}  // namespace tbench::model
