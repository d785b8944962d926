#include "model/training/model_impl.hpp"

#include <fmt/format.h>

#include "model/layers/flash_attention.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {

Registry<ModelImpl>& model_impls() {
  static Registry<ModelImpl> impls{"impl", Registered<ModelImpl>::sorted()};
  return impls;
}

const ModelImpl& checked_model_impl(const ModelConfig& config) {
  const ModelImpl& impl = model_impls().at(config.impl);
  const ModelSize& size = config.size;
  for (const std::int64_t extent : {size.d_model, size.d_ff, size.num_layers, size.num_heads, config.context,
                                    config.batch, config.size.vocab_size}) {
    if (extent <= 0) throw UsageError{fmt::format("size:{}: the extent {} is not positive", size.name, extent)};
  }
  if (size.num_heads % size.kv_heads() != 0) {
    throw UsageError{
        fmt::format("size:{}: {} kv_heads do not divide {} heads", size.name, size.kv_heads(), size.num_heads)};
  }
  if ((size.own_head_dim == 0 && size.d_model % size.num_heads != 0) || size.head_dim() % 2 != 0) {
    throw UsageError{fmt::format("size:{}: d_model {} over {} heads does not give an even head_dim", size.name,
                                 size.d_model, size.num_heads)};
  }
  return impl;
}

std::optional<std::string> layers_refusal(const ModelConfig& config) {
  if (config.size.has_plain_layers()) return std::nullopt;
  return fmt::format("impl:{} has no {}; eager and sdpa have", config.impl,
                     config.size.kv_heads() != config.size.num_heads ? "shared key and value heads"
                     : config.size.q_width() != config.size.d_model  ? "head_dim apart from d_model / num_heads"
                     : config.size.tied                              ? "tied embeddings"
                                                                     : "norm of q and k");
}

std::optional<std::string> flash_attention_refusal(const ModelConfig& config) {
  if (config.device == DeviceKind::kCpu) return "our kernels run on GPUs only";
  return flash_unsupported_reason({.batch = config.batch,
                                   .heads = config.size.num_heads,
                                   .seq_q = config.context,
                                   .seq_kv = config.context,
                                   .head_dim = config.size.head_dim(),
                                   .causal = true,
                                   .kv_heads = config.size.own_kv_heads},
                                  config.precision);
}

std::vector<std::string> model_impl_names() { return model_impls().names(); }

}  // namespace tbench::model
