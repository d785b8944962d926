// `compiled`: a step as torch.compile makes it of the model, compiled ahead of time by tools/compile_model.py.
#pragma once

#include <memory>

#include "model/training/model_passes.hpp"

namespace tbench::model {

/// Loads the case's packages. A step allocates what it needs, as torch.compile's does.
/// @param inputs  with q, k and v of a layer in one leaf, w1 and w3 in two
/// @throws        Unsupported  for a package that is damaged, or made for anything but this case on this machine
[[nodiscard]] std::unique_ptr<ModelPasses> make_compiled_passes(const PassesInputs& inputs);

}  // namespace tbench::model
