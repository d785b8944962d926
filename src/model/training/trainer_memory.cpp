#include "model/training/trainer_memory.hpp"

#include <cstdint>
#include <string_view>

#include "model/torch/live_tensors.hpp"

namespace tbench::model {
namespace {

void add_bytes(std::vector<LiveTensor>& live, std::int64_t bytes, std::string_view memory_class) {
  if (bytes > 0) live.push_back({.address = 0, .bytes = bytes, .memory_class = memory_class});
}

/// Adds the leaves' gradients, except gradients that are part of a buffer: the buffer is counted instead.
void add_gradients(std::vector<LiveTensor>& live, const std::vector<at::Tensor>& leaves) {
  for (const at::Tensor& leaf : leaves) {
    const at::Tensor& gradient = leaf.grad();
    if (gradient.defined() && gradient.nbytes() == gradient.storage().nbytes()) add_live(live, gradient, "gradients");
  }
}

}  // namespace

std::vector<LiveTensor> live_tensors_of(const Trainer& trainer, const GradientSync* sync) {
  std::vector<LiveTensor> live;
  for (const at::Tensor& leaf : trainer.parameters().leaves()) add_live(live, leaf, "parameters");
  add_live(live, trainer.tokens(), "inputs");
  add_live(live, trainer.targets(), "inputs");
  if (trainer.optimizer() != nullptr) {
    for (const at::Tensor& tensor : trainer.optimizer()->state()) add_live(live, tensor, "optimizer_state");
  }
  if (sync != nullptr) add_bytes(live, sync->held_bytes(), "communication_buffers");
  if (const std::optional<HeldBytes> planned = trainer.planned_bytes()) {
    add_bytes(live, planned->copies, "casts");
    add_bytes(live, planned->gradients, "gradients");
    add_bytes(live, planned->activations, "activations");
    add_bytes(live, planned->workspaces, "workspaces");
    return live;
  }
  add_gradients(live, trainer.parameters().leaves());
  add_gradients(live, trainer.optimized());
  return live;
}

}  // namespace tbench::model
