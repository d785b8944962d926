#include "model/fused/step_buffers.hpp"

#include <cstring>
#include <stdexcept>

namespace tbench::model {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

/// The parts of a layer's forward pass, in order. Each part is one moment.
enum Part : std::int64_t { kProjections, kAttention, kGateUp, kFeedForward, kParts };

/// The moments of a step. A layer's backward pass is one moment, and its weights' gradients may still be computed in
/// the next one.
struct Schedule {
  std::int64_t layers;
  bool has_backward;

  [[nodiscard]] static std::int64_t embedding() { return 0; }
  [[nodiscard]] static std::int64_t forward(std::int64_t layer, Part part) { return 1 + kParts * layer + part; }
  [[nodiscard]] std::int64_t head_norm() const { return 1 + kParts * layers; }
  [[nodiscard]] std::int64_t head() const { return head_norm() + 1; }
  [[nodiscard]] std::int64_t backward_head() const { return head() + 1; }
  [[nodiscard]] std::int64_t backward(std::int64_t layer) const { return backward_head() + layers - layer; }
  [[nodiscard]] std::int64_t backward_embedding() const { return backward_head() + layers + 1; }
  [[nodiscard]] std::int64_t end() const { return has_backward ? backward_embedding() + 1 : head(); }

  /// Returns the lifetime of a buffer that a part of a layer writes: it ends with the layer's backward pass, or without
  /// a backward with moment `last`.
  [[nodiscard]] Lifetime kept(std::int64_t layer, Part part, std::int64_t last) const {
    return {.first = forward(layer, part), .last = has_backward ? backward(layer) + 1 : last};
  }
};

Schedule schedule_of(const StepExtents& extents) {
  return {.layers = extents.num_layers, .has_backward = extents.has_backward};
}

}  // namespace

StepBuffers::StepBuffers(const StepExtents& extents, const std::vector<std::int64_t>& gradient_bytes)
    : layers(static_cast<std::size_t>(extents.num_layers)) {
  add_layers(extents);
  add_head(extents);
  add_scratch(extents);
  if (extents.has_backward) add_gradients(extents, gradient_bytes);
  plan_.place();
}

template <class T>
void StepBuffers::add(T*& slot, std::int64_t bytes, Lifetime lifetime) {
  slots_.push_back({.slot = &slot, .number = plan_.add(bytes, lifetime), .bytes = bytes, .is_gradient = false});
}

void StepBuffers::add_layers(const StepExtents& extents) {
  const Schedule schedule = schedule_of(extents);
  const std::int64_t tokens = extents.tokens();
  const std::int64_t stream = tokens * extents.d_model * kFloat;
  const std::int64_t narrow = tokens * extents.d_model * extents.element_bytes;
  const std::int64_t attended = tokens * extents.q_width * extents.element_bytes;
  const std::int64_t qk = attended + tokens * extents.kv_width * extents.element_bytes;
  for (std::int64_t i = 0; i < extents.num_layers; ++i) {
    LayerBuffers& layer = layers[static_cast<std::size_t>(i)];
    const auto kept = [&](Part part, Part last) { return schedule.kept(i, part, Schedule::forward(i, last)); };
    Lifetime of_x = kept(kProjections, kGateUp);
    if (i == 0) of_x.first = Schedule::embedding();
    add(layer.x, stream, of_x);
    add(layer.normed, narrow, kept(kProjections, kProjections));
    add(layer.rstd, tokens * kFloat, kept(kProjections, kProjections));
    add(layer.qkv, extents.qkv_bytes(), kept(kProjections, kAttention));
    if (extents.qk_norm) add(layer.qk, qk, kept(kProjections, kAttention));
    add(layer.attended, attended, kept(kAttention, kAttention));
    add(layer.lse, tokens * extents.num_heads * kFloat, kept(kAttention, kAttention));
    add(layer.x_mid, stream, schedule.kept(i, kGateUp, Schedule::forward(i + 1, kProjections)));
    add(layer.normed_mid, narrow, kept(kGateUp, kGateUp));
    add(layer.rstd_mid, tokens * kFloat, kept(kGateUp, kGateUp));
    add(layer.gate_up, 2 * tokens * extents.d_ff * extents.element_bytes, kept(kGateUp, kFeedForward));
    const std::int64_t feed_forward = Schedule::forward(i, kFeedForward);
    add(layer.h, tokens * extents.d_ff * extents.element_bytes, {.first = feed_forward, .last = feed_forward});
  }
}

/// Adds the buffers of a head that computes its gradients in the forward pass, chunk by chunk.
void StepBuffers::add_chunked_head(const StepExtents& extents) {
  const Schedule schedule = schedule_of(extents);
  const std::int64_t tokens = extents.tokens();
  const Lifetime of_norm{.first = schedule.head_norm(), .last = schedule.backward_head()};
  add(head.x, tokens * extents.d_model * kFloat, of_norm);
  add(head.normed, tokens * extents.d_model * extents.element_bytes,
      {.first = schedule.head_norm(), .last = schedule.head()});
  add(head.rstd, tokens * kFloat, of_norm);
  add(head.logits, extents.head_rows * extents.vocab_size * extents.element_bytes,
      {.first = schedule.head(), .last = schedule.head()});
  const Lifetime of_outputs{.first = schedule.head(), .last = schedule.backward_head()};
  add(head.losses, tokens * kFloat, of_outputs);
  add(head.lse, tokens * kFloat, of_outputs);
  add(head.loss, kFloat, {.first = schedule.head(), .last = schedule.end()});
}

void StepBuffers::add_head(const StepExtents& extents) {
  if (extents.head_rows > 0) return add_chunked_head(extents);
  const Schedule schedule = schedule_of(extents);
  const std::int64_t tokens = extents.tokens();
  const std::int64_t logits = tokens * extents.vocab_size * extents.element_bytes;
  const Lifetime kept{.first = schedule.head(),
                      .last = extents.has_backward ? schedule.backward_head() + 1 : schedule.head()};
  const std::int64_t norm = schedule.head_norm();
  const Lifetime of_norm{.first = norm, .last = extents.has_backward ? kept.last : norm};
  add(head.x, tokens * extents.d_model * kFloat, of_norm);
  add(head.normed, tokens * extents.d_model * extents.element_bytes, {.first = norm, .last = kept.last});
  add(head.rstd, tokens * kFloat, of_norm);
  add(head.logits, logits, kept);
  if (!extents.has_backward) return;
  add(head.dlogits, logits, kept);
  const Lifetime to_the_end{.first = schedule.head(), .last = schedule.end()};
  add(head.losses, tokens * kFloat, kept);
  add(head.loss, kFloat, to_the_end);
}

void StepBuffers::add_scratch(const StepExtents& extents) {
  const Schedule schedule = schedule_of(extents);
  const std::int64_t tokens = extents.tokens();
  const std::int64_t narrow = tokens * extents.d_model * extents.element_bytes;
  const std::int64_t wide = tokens * extents.d_ff * extents.element_bytes;
  const Lifetime layers_forward{.first = Schedule::forward(0, kProjections), .last = schedule.head_norm() - 1};
  const Lifetime layers_backward{.first = schedule.backward(extents.num_layers - 1), .last = schedule.backward(0)};
  // The head's norm reads the last layer's branch.
  add(scratch.branch, narrow, {.first = layers_forward.first, .last = schedule.head_norm()});
  const Lifetime in_layers{.first = layers_forward.first,
                           .last = extents.has_backward ? layers_backward.last : layers_forward.last};
  add(scratch.attention_workspace, extents.attention_workspace_bytes, in_layers);
  if (!extents.has_backward) return;
  const Lifetime backward{.first = schedule.backward_head(), .last = schedule.backward_embedding()};
  const Lifetime in_the_end{.first = layers_backward.first, .last = backward.last};
  for (float*& dx : scratch.dx) add(dx, tokens * extents.d_model * kFloat, backward);
  for (float*& workspace : scratch.norm_workspaces) add(workspace, extents.norm_workspace_bytes, backward);
  if (extents.qk_norm) {
    for (float*& workspace : scratch.qk_norm_workspaces) {
      add(workspace, extents.qk_norm_workspace_bytes, in_the_end);
    }
  }
  const bool is_chunked = extents.head_rows > 0;  // the head then writes its input's gradient in the forward pass
  add(scratch.dnormed, narrow, {.first = is_chunked ? schedule.head() : backward.first, .last = backward.last});
  add(scratch.dattended, tokens * extents.q_width * extents.element_bytes, layers_backward);
  add(scratch.dh, wide, layers_backward);
  for (ScratchBuffers::OfLayer& of_layer : scratch.of_layer) {
    add(of_layer.dffn, narrow, backward);
    add(of_layer.dattention, narrow, in_the_end);
    add(of_layer.h, wide, in_the_end);
    add(of_layer.dqkv, extents.qkv_bytes(), in_the_end);
  }
}

void StepBuffers::add_gradients(const StepExtents& extents, const std::vector<std::int64_t>& gradient_bytes) {
  const Schedule schedule = schedule_of(extents);
  const auto leaves_of_layers = static_cast<std::size_t>(extents.num_layers) * extents.leaves_of_layer();
  if (gradient_bytes.size() != 1 + leaves_of_layers + (extents.tied ? 1 : 2)) {
    throw std::invalid_argument{"StepBuffers: the bytes of each leaf's gradient are needed, no more and no fewer"};
  }
  gradients.assign(gradient_bytes.size(), nullptr);
  for (std::size_t leaf = 0; leaf < gradients.size(); ++leaf) {
    std::int64_t first = schedule.backward_head();
    if (leaf == 0 && !extents.tied) first = schedule.backward_embedding();
    const bool is_of_head = leaf == (extents.tied ? 0 : gradients.size() - 1);
    if (is_of_head && extents.head_rows > 0) first = schedule.head();
    if (leaf > 0 && leaf <= leaves_of_layers) {
      first = schedule.backward(static_cast<std::int64_t>((leaf - 1) / extents.leaves_of_layer()));
    }
    add(gradients[leaf], gradient_bytes[leaf], {.first = first, .last = schedule.end()});
    slots_.back().is_gradient = true;
  }
}

std::int64_t StepBuffers::gradient_bytes_at_peak() const {
  const std::int64_t peak = plan_.peak_moment();
  std::int64_t bytes = 0;
  for (const Slot& slot : slots_) {
    if (slot.is_gradient && plan_.lives_at(slot.number, peak)) bytes += slot.bytes;
  }
  return bytes;
}

void StepBuffers::set_block(void* block) {
  for (const Slot& slot : slots_) {
    void* const place = static_cast<char*>(block) + plan_.offset(slot.number);
    std::memcpy(slot.slot, &place, sizeof(place));
  }
}

}  // namespace tbench::model
