// Model steps with one fault per step. The verification of a step must find them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model/layers/layers.hpp"
#include "model/training/trainer.hpp"

namespace tbench::model::planted {

inline constexpr std::int64_t kLayers = 4;
inline constexpr std::int64_t kRows = 4;
inline constexpr std::int64_t kFaultyLayer = 2;

inline const ModelSize kShallow{.name = "shallow", .d_model = 64, .d_ff = 128, .num_layers = kLayers, .num_heads = 4};
inline const ModelSize kDeep{.name = "deep", .d_model = 96, .d_ff = 192, .num_layers = 48, .num_heads = 4};

/// The state that the faulty functions keep from one call to the next. Every trainer starts with a new one.
struct State {
  std::int64_t attention_calls{}, norm_calls{}, feed_forward_calls{};
  at::Tensor norm_input;
  FeedForwardWeights weights_before;
  std::vector<FeedForwardWeights> first_weights;
  at::Tensor first_tokens;
  std::vector<at::Tensor> leaves;  // leaves of the trainer, for faults that change them
  at::Tensor old_gradient;
};
[[nodiscard]] State& state();

struct Fault {
  std::string name;
  Pass pass;  // the first pass in which it can be found
  void (*in_layers)(LayerOps& ops){};
  void (*in_trainer)(Trainer& trainer){};
  std::vector<Precision> precisions{Precision::kBf16, Precision::kFp32};
  ModelSize size{kShallow};
};

[[nodiscard]] std::vector<Fault> forward_faults();
[[nodiscard]] std::vector<Fault> attention_faults();
[[nodiscard]] std::vector<Fault> backward_faults();
[[nodiscard]] std::vector<Fault> optimizer_faults();

}  // namespace tbench::model::planted
