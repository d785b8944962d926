#include "model/fused/step_buffers.hpp"

#include <cstring>
#include <stdexcept>

namespace tbench::model {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

/// The moments of a step: a layer, forward or backward, is one.
struct Schedule {
  std::int64_t layers;
  bool has_backward;

  [[nodiscard]] static std::int64_t embedding() { return 0; }
  [[nodiscard]] static std::int64_t forward(std::int64_t layer) { return 1 + layer; }
  [[nodiscard]] std::int64_t head() const { return 1 + layers; }
  [[nodiscard]] std::int64_t backward_head() const { return 2 + layers; }
  [[nodiscard]] std::int64_t backward(std::int64_t layer) const { return 2 + 2 * layers - layer; }
  [[nodiscard]] std::int64_t backward_embedding() const { return 3 + 2 * layers; }
  [[nodiscard]] std::int64_t end() const { return has_backward ? 4 + 2 * layers : head(); }

  /// From a layer's forward to its backward pass, or into the next layer.
  [[nodiscard]] Lifetime kept(std::int64_t layer) const {
    return {.first = forward(layer), .last = has_backward ? backward(layer) : forward(layer) + 1};
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
  for (std::int64_t i = 0; i < extents.num_layers; ++i) {
    LayerBuffers& layer = layers[static_cast<std::size_t>(i)];
    const Lifetime kept = schedule.kept(i);
    add(layer.x, stream, {.first = i == 0 ? Schedule::embedding() : kept.first, .last = kept.last});
    add(layer.normed, narrow, kept);
    add(layer.rstd, tokens * kFloat, kept);
    add(layer.qkv, 3 * narrow, kept);
    add(layer.attended, narrow, kept);
    add(layer.lse, tokens * extents.num_heads * kFloat, kept);
    add(layer.x_mid, stream, kept);
    add(layer.normed_mid, narrow, kept);
    add(layer.rstd_mid, tokens * kFloat, kept);
    add(layer.gate_up, 2 * tokens * extents.d_ff * extents.element_bytes, kept);
  }
}

void StepBuffers::add_head(const StepExtents& extents) {
  const Schedule schedule = schedule_of(extents);
  const std::int64_t tokens = extents.tokens();
  const std::int64_t logits = tokens * extents.vocab_size * extents.element_bytes;
  const Lifetime kept{.first = schedule.head(),
                      .last = extents.has_backward ? schedule.backward_head() : schedule.head()};
  add(head.x, tokens * extents.d_model * kFloat, kept);
  add(head.normed, tokens * extents.d_model * extents.element_bytes, kept);
  add(head.rstd, tokens * kFloat, kept);
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
  const Lifetime forward{.first = Schedule::embedding(), .last = schedule.head()};
  const Lifetime layers_backward{.first = schedule.backward(extents.num_layers - 1), .last = schedule.backward(0)};
  const Lifetime everywhere{.first = Schedule::embedding(), .last = schedule.end()};
  add(scratch.branch, narrow, forward);
  add(scratch.h, wide, everywhere);
  add(scratch.attention_workspace, extents.attention_workspace_bytes, everywhere);
  if (!extents.has_backward) return;
  const Lifetime backward{.first = schedule.backward_head(), .last = schedule.backward_embedding()};
  for (float*& dx : scratch.dx) add(dx, tokens * extents.d_model * kFloat, backward);
  add(scratch.norm_workspace, extents.norm_workspace_bytes, backward);
  add(scratch.dnormed, narrow, backward);
  add(scratch.dbranch, narrow, backward);
  add(scratch.dattended, narrow, layers_backward);
  add(scratch.dqkv, 3 * narrow, layers_backward);
  add(scratch.dh, wide, layers_backward);
}

void StepBuffers::add_gradients(const StepExtents& extents, const std::vector<std::int64_t>& gradient_bytes) {
  const Schedule schedule = schedule_of(extents);
  const auto leaves_of_layers = static_cast<std::size_t>(extents.num_layers) * kFusedLeavesOfLayer;
  if (gradient_bytes.size() != 1 + leaves_of_layers + 2) {
    throw std::invalid_argument{"StepBuffers: the bytes of each leaf's gradient are needed, no more and no fewer"};
  }
  gradients.assign(gradient_bytes.size(), nullptr);
  for (std::size_t leaf = 0; leaf < gradients.size(); ++leaf) {
    std::int64_t first = schedule.backward_head();
    if (leaf == 0) first = schedule.backward_embedding();
    if (leaf > 0 && leaf <= leaves_of_layers) {
      first = schedule.backward(static_cast<std::int64_t>((leaf - 1) / kFusedLeavesOfLayer));
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
