#include "model/attention/runner.hpp"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "model/torch/compare.hpp"
#include "model/torch/live_tensors.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {
namespace {

/// The settings of LibTorch for all computations of a case.
class CaseScope {
 public:
  explicit CaseScope(const AttentionConfig& config)
      : tf32_{config.precision},
        deterministic_{config.deterministic},
        with_graph_{config.pass != AttentionPass::kForward} {}

 private:
  Tf32Scope tf32_;
  DeterministicScope deterministic_;
  at::AutoGradMode with_graph_;
};

/// Returns the row sums' logarithms without padding and trailing extents of 1.
at::Tensor plain_lse(const at::Tensor& lse, const AttentionShape& shape) {
  if (!lse.defined()) return {};
  return lse.detach().flatten(2).narrow(2, 0, shape.seq_q);
}

}  // namespace

AttentionRunner::AttentionRunner(const AttentionConfig& config, const AttentionImpl& impl) : impl_{impl} {
  operands_.config = config;
  operands_.scale = 1.0 / std::sqrt(static_cast<double>(config.shape.head_dim));
  make_operands();
  if (config.pass != AttentionPass::kForward) weigh_state();
}

AttentionRunner::Filled AttentionRunner::filled() const {
  const AttentionConfig& config = operands_.config;
  const AttentionShape& shape = config.shape;
  const c10::Device device = torch_device(config.device);
  at::Generator generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(config.seed);
  const at::ScalarType dtype = compute_dtype(config.precision, at::kFloat);
  const auto normal = [&](std::int64_t heads, std::int64_t seq) {
    return at::randn({shape.batch, heads, seq, shape.head_dim}, generator,
                     at::TensorOptions{}.device(device).dtype(at::kFloat))
        .to(dtype);
  };
  Filled values{.q = normal(shape.heads, shape.seq_q),
                .k = normal(shape.key_heads(), shape.seq_kv),
                .v = normal(shape.key_heads(), shape.seq_kv),
                .grad_o = {}};
  if (config.pass != AttentionPass::kForward) values.grad_o = normal(shape.heads, shape.seq_q);
  return values;
}

void AttentionRunner::make_operands() {
  Filled values = filled();
  operands_.q = std::move(values.q);
  operands_.k = std::move(values.k);
  operands_.v = std::move(values.v);
  operands_.grad_o = std::move(values.grad_o);
  if (impl_.prepare != nullptr) impl_.prepare(operands_);
}

void AttentionRunner::fill(std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  state_.reset();
  operands_.config.seed = seed;
  const Filled values = filled();
  operands_.q.copy_(values.q);
  operands_.k.copy_(values.k);
  operands_.v.copy_(values.v);
  if (values.grad_o.defined()) operands_.grad_o.copy_(values.grad_o);
}

std::optional<std::string> AttentionRunner::changed_operand() const {
  const Filled values = filled();
  const auto differ = [](const at::Tensor& now, const at::Tensor& then) {
    return then.defined() && !has_same_bytes(now, then);
  };
  if (differ(operands_.q, values.q)) return "q";
  if (differ(operands_.k, values.k)) return "k";
  if (differ(operands_.v, values.v)) return "v";
  if (differ(operands_.grad_o, values.grad_o)) return "grad_o";
  return std::nullopt;
}

/// Measures the memory of the forward pass's state. The first forward pass allocates the workspaces that libraries
/// keep, so that the second adds only its state.
void AttentionRunner::weigh_state() {
  const std::unique_ptr<MemoryProbe> probe =
      operands_.config.device == DeviceKind::kCuda ? make_cuda_memory_probe() : nullptr;
  state_ = forward(/*for_backward=*/true);
  state_.reset();
  const std::int64_t before = probe ? probe->allocated_now() : 0;
  state_ = forward(/*for_backward=*/true);
  if (probe) held_bytes_ = probe->allocated_now() - before;
  if (operands_.config.pass != AttentionPass::kBackward) state_.reset();
}

AttentionState AttentionRunner::forward(bool for_backward) const {
  const CaseScope scope{operands_.config};
  return impl_.forward(operands_, for_backward);
}

void AttentionRunner::step(PhaseMarker* phases) {
  const CaseScope scope{operands_.config};
  last_ = {};  // lets the allocator reuse their memory
  if (operands_.config.pass == AttentionPass::kBackward) {
    AttentionGradients gradients = impl_.backward(operands_, state_.value(), /*keep_state=*/true);
    mark_phase(phases);
    return keep(nullptr, std::move(gradients));
  }
  const bool with_backward = operands_.config.pass == AttentionPass::kForwardBackward;
  const AttentionState state = impl_.forward(operands_, with_backward);
  mark_phase(phases);
  if (!with_backward) return keep(&state, {});
  AttentionGradients gradients = impl_.backward(operands_, state, /*keep_state=*/false);
  mark_phase(phases);
  keep(&state, std::move(gradients));
}

/// Keeps the results of a step of a watched implementation.
/// @param state  state of the forward pass; null for a backward pass alone
void AttentionRunner::keep(const AttentionState* state, AttentionGradients gradients) {
  if (!impl_.is_watched) return;
  last_ = {.o = state == nullptr ? at::Tensor{} : state->output.detach(),
           .lse = state == nullptr ? at::Tensor{} : plain_lse(state->lse, operands_.config.shape),
           .dq = std::move(gradients.dq),
           .dk = std::move(gradients.dk),
           .dv = std::move(gradients.dv)};
}

AttentionOutputs AttentionRunner::outputs() {
  const AttentionConfig& config = operands_.config;
  const CaseScope scope{config};
  state_.reset();
  last_ = {};
  const bool with_backward = config.pass != AttentionPass::kForward;
  const AttentionState state = impl_.forward(operands_, with_backward);
  AttentionOutputs outputs{
      .o = state.output.detach(), .lse = plain_lse(state.lse, config.shape), .dq = {}, .dk = {}, .dv = {}};
  if (!with_backward) return outputs;
  const bool is_alone = config.pass == AttentionPass::kBackward;
  if (is_alone) static_cast<void>(impl_.backward(operands_, state, /*keep_state=*/true));
  AttentionGradients gradients = impl_.backward(operands_, state, /*keep_state=*/is_alone);
  outputs.dq = std::move(gradients.dq);
  outputs.dk = std::move(gradients.dk);
  outputs.dv = std::move(gradients.dv);
  return outputs;
}

void AttentionRunner::restore() {
  state_.reset();
  if (operands_.config.pass == AttentionPass::kBackward) state_ = forward(/*for_backward=*/true);
}

std::vector<LiveTensor> AttentionRunner::live_tensors() const {
  std::vector<LiveTensor> live;
  for (const at::Tensor& tensor :
       {operands_.q, operands_.k, operands_.v, operands_.grad_o, operands_.mask, operands_.minus_infinity}) {
    add_live(live, tensor, "inputs");
  }
  if (state_) {
    add_live(live, state_->output, "activations");
    add_live(live, state_->lse, "activations");
    for (const at::Tensor& tensor : state_->saved) add_live(live, tensor, "activations");
  }
  for (const at::Tensor& tensor : {last_.o, last_.lse, last_.dq, last_.dk, last_.dv}) add_live(live, tensor, "results");
  return live;
}

}  // namespace tbench::model
