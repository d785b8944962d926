#include "model/fused/fused_passes.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <cmath>

#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

int multiprocessors_of_current_device() { return at::cuda::getCurrentDeviceProperties()->multiProcessorCount; }

Precision storage_of(Precision precision) { return precision == Precision::kTf32 ? Precision::kFp32 : precision; }

kernels::AttentionProblem attention_problem(const ModelConfig& config) {
  return {.shape = {.batch = config.batch,
                    .heads = config.size.num_heads,
                    .seq_q = config.context,
                    .seq_kv = config.context,
                    .head_dim = config.size.head_dim(),
                    .causal = true,
                    .kv_heads = config.size.own_kv_heads},
          .precision = config.precision,
          .scale = 1.0F / std::sqrt(static_cast<float>(config.size.head_dim())),
          .deterministic = false};
}

kernels::NormShape norm_shape(const ModelConfig& config) {
  return {.rows = config.batch * config.context,
          .width = config.size.d_model,
          .types = {.stream = Precision::kFp32, .branch = storage_of(config.precision), .weight = Precision::kFp32},
          .epsilon = static_cast<float>(kRmsNormEpsilon)};
}

kernels::QkNormRopeShape qk_norm_shape(const ModelConfig& config) {
  return {.tokens = config.batch * config.context,
          .seq = config.context,
          .heads = config.size.num_heads,
          .kv_heads = config.size.kv_heads(),
          .head_dim = config.size.head_dim(),
          .precision = storage_of(config.precision),
          .epsilon = static_cast<float>(kRmsNormEpsilon)};
}

HeadShape head_shape(const ModelConfig& config) {
  return {.tokens = config.batch * config.context,
          .d_model = config.size.d_model,
          .vocab_size = config.size.vocab_size,
          .precision = config.precision};
}

/// Whether the step computes the head's gradients in chunks.
bool divides_head(const ModelConfig& config) {
  return config.pass != Pass::kForward && step_divides_head(head_shape(config));
}

StepExtents extents_of(const ModelConfig& config, const kernels::AttentionProblem& attention,
                       const kernels::NormShape& norm, const kernels::QkNormRopeShape& qk_norm) {
  const kernels::DeviceLimits limits = kernels::current_device_limits();
  const bool has_backward = config.pass != Pass::kForward;
  kernels::AttentionProblem contiguous = attention;  // every layout needs the same workspace
  contiguous.layout = kernels::contiguous_layout(attention.shape);
  std::size_t workspace = plan_attention_forward(contiguous, limits).workspace_bytes();
  if (has_backward) workspace = std::max(workspace, plan_attention_backward(contiguous, limits).workspace_bytes());
  return {
      .batch = config.batch,
      .context = config.context,
      .d_model = config.size.d_model,
      .d_ff = config.size.d_ff,
      .q_width = config.size.q_width(),
      .kv_width = config.size.kv_width(),
      .num_layers = config.size.num_layers,
      .num_heads = config.size.num_heads,
      .vocab_size = config.size.vocab_size,
      .tied = config.size.tied,
      .qk_norm = config.size.qk_norm,
      .element_bytes = storage_of(config.precision) == Precision::kFp32 ? 4 : 2,
      .has_backward = has_backward,
      .head_rows = divides_head(config) ? head_chunks(head_shape(config)).rows : 0,
      .attention_workspace_bytes = static_cast<std::int64_t>(workspace),
      .norm_workspace_bytes = has_backward ? kernels::norm_workspace_bytes(norm) : 0,
      .qk_norm_workspace_bytes = has_backward && config.size.qk_norm ? kernels::qk_norm_workspace_bytes(qk_norm) : 0};
}

/// Returns the dtype of a leaf's gradient. Leaf 0 is the table of embeddings, tied or not, vectors are norms' weights,
/// and all other leaves are products' weights. The last of them is the weight of the head, unless it is tied.
at::ScalarType gradient_type(const std::vector<at::Tensor>& leaves, std::size_t leaf, const ModelConfig& config) {
  if (leaf == 0 || leaves[leaf].dim() != 2) return at::kFloat;
  const bool is_of_chunks = leaf + 1 == leaves.size() && divides_head(config);
  return is_of_chunks ? head_gradient_type(head_shape(config)) : weight_gradient_type(config.precision);
}

std::vector<std::int64_t> gradient_bytes(const std::vector<at::Tensor>& leaves, const ModelConfig& config) {
  std::vector<std::int64_t> bytes;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto element = static_cast<std::int64_t>(c10::elementSize(gradient_type(leaves, i, config)));
    bytes.push_back(leaves[i].numel() * element);
  }
  return bytes;
}

/// Returns a view of the elements of `block` that begin at address `at`.
at::Tensor view_of(const at::Tensor& block, const void* at, at::ScalarType dtype, at::IntArrayRef sizes) {
  const std::int64_t offset = static_cast<const char*>(at) - static_cast<const char*>(block.const_data_ptr());
  std::int64_t bytes = static_cast<std::int64_t>(c10::elementSize(dtype));
  for (const std::int64_t size : sizes) bytes *= size;
  return block.narrow(0, offset, bytes).view(dtype).view(sizes);
}

}  // namespace

FusedPasses::FusedPasses(const PassesInputs& inputs)
    : config_{inputs.config},
      parameters_{inputs.parameters},
      loss_scale_{inputs.loss_scale},
      storage_{storage_of(config_.precision)},
      dtype_{compute_dtype(config_.precision, at::kFloat)},
      attention_{attention_problem(config_)},
      norm_{norm_shape(config_)},
      qk_norm_{qk_norm_shape(config_)},
      rope_{make_rope_table(config_.context, config_.size.head_dim(), parameters_.leaves().front().options(),
                            config_.size.rope_theta)},
      library_{parameters_.leaves().front().device(), config_.pass != Pass::kForward},
      update_plan_{update_plan(config_.size.d_model, multiprocessors_of_current_device())},
      linears_{.qkv{linear(config_.size.d_model, config_.size.q_width() + 2 * config_.size.kv_width())},
               .output{linear(config_.size.q_width(), config_.size.d_model)},
               .gate_up{linear(config_.size.d_model, 2 * config_.size.d_ff)},
               .w2{linear(config_.size.d_ff, config_.size.d_model)},
               .lm_head{linear(config_.size.d_model, config_.size.vocab_size, config_.size.tied)}},
      extents_{extents_of(config_, attention_, norm_, qk_norm_)},
      buffers_{extents_, gradient_bytes(parameters_.leaves(), config_)} {
  if (divides_head(config_)) chunked_head_.emplace(library_, head_shape(config_));
  make_copies();
  allocate();
  plan_attention();
}

Linear FusedPasses::linear(std::int64_t in, std::int64_t out, bool adds_to_gradient) const {
  return {library_,
          {.tokens = config_.batch * config_.context,
           .in = in,
           .out = out,
           .precision = config_.precision,
           .adds_to_gradient = adds_to_gradient},
          multiprocessors_of_current_device() - update_plan_.multiprocessors};
}

void FusedPasses::make_copies() {
  if (storage_ == Precision::kFp32) return;
  for (std::size_t i = 0; i < parameters_.leaves().size(); ++i) {
    const at::Tensor& leaf = parameters_.leaves()[i];
    // The optimizer writes a copy of each leaf; the passes read the copies of the products' weights.
    const bool is_read = leaf.dim() == 2 && (i > 0 || extents_.tied);
    const bool is_made = is_read || config_.pass == Pass::kTrainStep;
    copies_.push_back(is_made ? at::empty_like(leaf, leaf.options().dtype(dtype_).requires_grad(false)) : at::Tensor{});
  }
}

void FusedPasses::allocate() {
  const at::NoGradGuard no_grad;
  const at::TensorOptions options = parameters_.leaves().front().options().requires_grad(false);
  block_ = at::empty({buffers_.bytes()}, options.dtype(at::kByte));
  buffers_.set_block(block_.mutable_data_ptr());
  if (!chunked_head_) {
    logits_ = view_of(block_, buffers_.head.logits, dtype_, {config_.batch, config_.context, config_.size.vocab_size});
  }
  if (!extents_.has_backward) return;
  losses_ = view_of(block_, buffers_.head.losses, at::kFloat, {extents_.tokens()});
  if (chunked_head_) lse_ = view_of(block_, buffers_.head.lse, at::kFloat, {extents_.tokens()});
  loss_ = view_of(block_, buffers_.head.loss, at::kFloat, {});
  const std::vector<at::Tensor>& leaves = parameters_.leaves();
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const at::ScalarType type = gradient_type(leaves, i, config_);
    gradients_.push_back(view_of(block_, buffers_.gradients[i], type, leaves[i].sizes()));
  }
}

void FusedPasses::parameters_changed() {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (copies_[i].defined()) copies_[i].copy_(parameters_.leaves()[i]);
  }
  show_gradients();
}

void FusedPasses::show_gradients() {
  for (std::size_t i = 0; i < gradients_.size(); ++i) parameters_.leaves()[i].mutable_grad() = gradients_[i];
}

FusedPasses::LayerWeights FusedPasses::weights_of(std::size_t layer) const {
  const std::size_t first = 1 + extents_.leaves_of_layer() * layer;
  const bool has_norms = extents_.qk_norm;
  return {.ln1 = norm_weight(first),
          .qkv = matrix(first + 1),
          .output = matrix(first + 2),
          .gate_up = matrix(first + 3),
          .w2 = matrix(first + 4),
          .ln2 = norm_weight(first + 5),
          .q_norm = has_norms ? norm_weight(first + 6) : nullptr,
          .k_norm = has_norms ? norm_weight(first + 7) : nullptr};
}

const float* FusedPasses::norm_weight(std::size_t leaf) const {
  return parameters_.leaves()[leaf].const_data_ptr<float>();
}

const void* FusedPasses::matrix(std::size_t leaf) const {
  return copies_.empty() ? parameters_.leaves()[leaf].const_data_ptr() : copies_[leaf].const_data_ptr();
}

FusedPasses::LayerGradients FusedPasses::gradients_of(std::size_t layer) const {
  void* const* const of_layer = &buffers_.gradients[1 + extents_.leaves_of_layer() * layer];
  const bool has_norms = extents_.qk_norm;
  return {.ln1 = static_cast<float*>(of_layer[0]),
          .qkv = of_layer[1],
          .output = of_layer[2],
          .gate_up = of_layer[3],
          .w2 = of_layer[4],
          .ln2 = static_cast<float*>(of_layer[5]),
          .q_norm = has_norms ? static_cast<float*>(of_layer[6]) : nullptr,
          .k_norm = has_norms ? static_cast<float*>(of_layer[7]) : nullptr};
}

std::optional<HeldBytes> FusedPasses::held_bytes() const {
  std::int64_t copies = 0;
  for (const at::Tensor& copy : copies_) copies += copy.defined() ? static_cast<std::int64_t>(copy.nbytes()) : 0;
  const std::size_t others = library_.workspace_bytes() + rope_.cos.nbytes() + rope_.sin.nbytes();
  const std::int64_t gradients = buffers_.gradient_bytes_at_peak();
  return HeldBytes{.copies = copies,
                   .gradients = gradients,
                   .activations = buffers_.bytes() - gradients,
                   .workspaces = static_cast<std::int64_t>(others)};
}

std::unique_ptr<ModelPasses> make_fused_passes(const PassesInputs& inputs) {
  return std::make_unique<FusedPasses>(inputs);
}

}  // namespace tbench::model
