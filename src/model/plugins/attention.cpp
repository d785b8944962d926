// Attention implementations from plug-ins.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <fmt/format.h>

#include <cmath>

#include "model/attention/implementation.hpp"
#include "model/plugins/arguments.hpp"
#include "model/plugins/package.hpp"
#include "model/plugins/plugin_family.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

constexpr std::string_view kAttentionPart = "Attention";

const tbench_attention& attention_functions(const AttentionConfig& config) {
  return *library_of(config.impl, config.device).attention;
}

double scale_of(const AttentionShape& shape) { return 1.0 / std::sqrt(static_cast<double>(shape.head_dim)); }

tbench_attention_problem attention_problem(const AttentionConfig& config, double scale, bool with_backward) {
  const AttentionShape& shape = config.shape;
  return {.device = plugin_device(config.device),
          .precision = plugin_precision(config.precision),
          .batch = shape.batch,
          .heads = shape.heads,
          .seq_q = shape.seq_q,
          .seq_kv = shape.seq_kv,
          .head_dim = shape.head_dim,
          .scale = scale,
          .causal = shape.causal ? 1 : 0,
          .with_backward = with_backward ? 1 : 0};
}

using AttentionBytes = std::int64_t (*)(const tbench_attention_problem*);

at::Tensor attention_bytes(AttentionBytes bytes, const tbench_attention_problem& problem, const AttentionConfig& config,
                           std::string_view function) {
  return plugin_bytes(bytes == nullptr ? 0 : bytes(&problem), config.device, config.impl, function);
}

std::optional<std::string> attention_refusal(const AttentionConfig& config) {
  const tbench_attention& functions = attention_functions(config);
  const bool with_backward = config.pass != AttentionPass::kForward;
  if (with_backward && functions.backward == nullptr) return fmt::format("{} has no backward pass", config.impl);
  if (functions.unsupported == nullptr) return std::nullopt;
  const tbench_attention_problem problem = attention_problem(config, scale_of(config.shape), with_backward);
  return plugin_reason(functions.unsupported(&problem));
}

AttentionState plugin_attention_forward(const AttentionOperands& operands, bool for_backward) {
  const AttentionConfig& config = operands.config;
  const tbench_attention& functions = attention_functions(config);
  const tbench_attention_problem problem = attention_problem(config, operands.scale, for_backward);
  const at::Tensor& q = operands.q;
  AttentionState state{.output = at::empty_like(q), .lse = {}, .saved = {at::Tensor{}}};
  if (functions.gives_lse != 0) {
    state.lse = at::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(at::kFloat));
  }
  if (for_backward) state.saved[0] = attention_bytes(functions.saved_bytes, problem, config, "saved_bytes");
  const at::Tensor workspace =
      attention_bytes(functions.forward_workspace_bytes, problem, config, "forward_workspace_bytes");
  const tbench_attention_forward arguments{.launch = plugin_launch(workspace, config.device),
                                           .q = plugin_tensor(q),
                                           .k = plugin_tensor(operands.k),
                                           .v = plugin_tensor(operands.v),
                                           .o = plugin_tensor(state.output),
                                           .lse = plugin_tensor(state.lse),
                                           .saved = plugin_pointer(state.saved[0])};
  require_no_error(functions.forward(&problem, &arguments), config.impl, "forward");
  return state;
}

AttentionGradients plugin_attention_backward(const AttentionOperands& operands, const AttentionState& state,
                                             bool /*keep_state*/) {
  const AttentionConfig& config = operands.config;
  const tbench_attention& functions = attention_functions(config);
  const tbench_attention_problem problem = attention_problem(config, operands.scale, /*with_backward=*/true);
  AttentionGradients gradients{
      .dq = at::empty_like(operands.q), .dk = at::empty_like(operands.k), .dv = at::empty_like(operands.v)};
  const at::Tensor workspace =
      attention_bytes(functions.backward_workspace_bytes, problem, config, "backward_workspace_bytes");
  const tbench_attention_backward arguments{.launch = plugin_launch(workspace, config.device),
                                            .q = plugin_tensor(operands.q),
                                            .k = plugin_tensor(operands.k),
                                            .v = plugin_tensor(operands.v),
                                            .o = plugin_tensor(state.output),
                                            .lse = plugin_tensor(state.lse),
                                            .grad_o = plugin_tensor(operands.grad_o),
                                            .dq = plugin_tensor(gradients.dq),
                                            .dk = plugin_tensor(gradients.dk),
                                            .dv = plugin_tensor(gradients.dv),
                                            .saved = plugin_pointer(state.saved.at(0))};
  require_no_error(functions.backward(&problem, &arguments), config.impl, "backward");
  return gradients;
}

std::vector<std::string> joined_attention(const tbench_plugin_description& library) {
  if (library.attention == nullptr) return {};
  if (library.attention->forward == nullptr) throw UsageError{"its attention has no forward(): set it"};
  return {std::string{kAttentionPart}};
}

void add_attention(const std::string& name, std::string_view /*part*/) {
  attention_impls().add({.name = name,
                         .precisions = {Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16},
                         .has_deterministic_mode = false,
                         .score_matrices = 0,
                         .kernel_mark = {},
                         .unsupported_reason = &attention_refusal,
                         .prepare = nullptr,
                         .forward = &plugin_attention_forward,
                         .backward = &plugin_attention_backward,
                         .is_watched = true});
}

}  // namespace

PluginFamily attention_plugin_family() {
  return {.joined = &joined_attention,
          .impl_names = [] { return attention_impl_names(); },
          .owns = [](std::string_view part) { return part == kAttentionPart; },
          .add = &add_attention,
          .add_package = [](const std::string& name,
                            std::string_view /*part*/) { attention_impls().add(package_attention_impl(name)); }};
}

}  // namespace tbench::model
