// `compiled`: the model of PyTorch's own functions as torch.compile compiles it, loaded from packages.
#include <fmt/format.h>

#include "model/compiled/compiled_passes.hpp"
#include "model/compiled/packages.hpp"
#include "model/training/model_impl.hpp"

namespace tbench::model::implementations::compiled {
namespace {

std::optional<std::string> unsupported_reason(const ModelConfig& config) {
  if (auto reason = layers_refusal(config)) return reason;
  if (config.size.vocab_size != kVocabSize || config.size.rope_theta != kRopeTheta) {
    return fmt::format(
        "impl:compiled has a vocabulary of {} and theta {:.0f} alone, as tools/compile_model.py makes "
        "packages; eager, sdpa and fused have others",
        kVocabSize, kRopeTheta);
  }
  return model_packages_refusal(config);
}

TBENCH_REGISTER(ModelImpl, {.name = "compiled",
                            .order = 50,
                            .make_passes = &make_compiled_passes,
                            .layout = {.fused_qkv = true},
                            .optimizer = AdamWVariant::kFused,
                            .unsupported_reason = &unsupported_reason});

}  // namespace
}  // namespace tbench::model::implementations::compiled
