// Attention implementations from packages.
#include <fmt/format.h>

#include <array>

#include "model/plugins/package.hpp"
#include "model/plugins/plugin_family.hpp"

namespace tbench::model {
namespace {

PackageQuestion attention_question(const AttentionConfig& config) {
  const AttentionShape& shape = config.shape;
  return {.precision = std::string{to_string(config.precision)},
          .flags = fmt::format("/causal{}", shape.causal ? 1 : 0),
          .with_backward = config.pass != AttentionPass::kForward,
          .extents = {
              {"batch", shape.batch}, {"heads", shape.heads}, {"seq_len", shape.seq_q}, {"head_dim", shape.head_dim}}};
}

std::optional<std::string> attention_package_refusal(const AttentionConfig& config) {
  if (config.shape.seq_q != config.shape.seq_kv) return "packages need as many keys as queries";
  const PackageQuestion question = attention_question(config);
  return package_refusal(package_of(config.impl, config.device, question), question);
}

void prepare_attention_package(AttentionOperands& operands) {
  const AttentionConfig& config = operands.config;
  const PackageQuestion question = attention_question(config);
  operands.made =
      std::make_shared<PackageGraphs>(load_package_graphs(package_of(config.impl, config.device, question), question));
}

const PackageGraphs& attention_graphs(const AttentionOperands& operands) {
  return *static_cast<const PackageGraphs*>(operands.made.get());
}

AttentionState attention_package_forward(const AttentionOperands& operands, bool for_backward) {
  const at::ScalarType dtype = operands.q.scalar_type();
  std::vector<at::Tensor> results =
      attention_graphs(operands).forward.run({operands.q, operands.k, operands.v}, {&dtype, 1});
  AttentionState state{.output = results.front(), .lse = {}, .saved = {}};
  if (for_backward) state.saved = std::move(results);
  return state;
}

AttentionGradients attention_package_backward(const AttentionOperands& operands, const AttentionState& state,
                                              bool /*keep_state*/) {
  std::vector<at::Tensor> inputs{operands.q, operands.k, operands.v};
  inputs.insert(inputs.end(), state.saved.begin(), state.saved.end());
  inputs.push_back(operands.grad_o);
  const at::ScalarType dtype = operands.q.scalar_type();
  const std::array dtypes{dtype, dtype, dtype};
  const std::vector<at::Tensor> gradients = attention_graphs(operands).backward.value().run(inputs, dtypes);
  return {.dq = gradients[0], .dk = gradients[1], .dv = gradients[2]};
}

}  // namespace

AttentionImpl package_attention_impl(const std::string& name) {
  return {.name = name,
          .precisions = {Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16},
          .has_deterministic_mode = false,
          .score_matrices = 0,
          .kernel_mark = {},
          .unsupported_reason = &attention_package_refusal,
          .prepare = &prepare_attention_package,
          .forward = &attention_package_forward,
          .backward = &attention_package_backward,
          .is_watched = true};
}

}  // namespace tbench::model
