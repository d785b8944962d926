// Cases of the Model family: one step of the studies' transformer. Free of LibTorch in its interface.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// The sequences of a larger batch that belong to a step: part `index` of `count` equal parts.
struct BatchPart {
  std::int64_t index{};
  std::int64_t count{1};
};

struct ModelConfig {
  ModelSize size;
  std::int64_t context{};  // tokens per sequence
  std::int64_t batch{};
  Pass pass{};
  Precision precision{};
  std::string impl;  // "eager", "sdpa", ...: see src/model/training/model_impl.hpp
  DeviceKind device{};
  std::uint64_t seed{};
  std::int64_t vocab_size{kVocabSize};
  Execution exec{Execution::kStream};
  std::string packages{};  // folder of what tools/compile_model.py made; empty: none
  BatchPart part{};        // of count * batch sequences; here: all of them
};

/// The names `impl` takes, in order.
[[nodiscard]] std::vector<std::string> model_impl_names();

/// build() makes weights (seeded), token ids (seeded, uniform), optimizer state.
/// verify() runs the step that is timed and compares the logits of every row of the batch and, as far as the pass goes,
/// the batch's loss, every gradient, the optimizer's moments and every parameter's update with a reference in higher
/// precision (float64 for fp32, float32 without TF32 for the others) of the same weights and inputs. verify_again()
/// does it with the weights and tokens of another seed, but for the moments and the update's norms, against a cheaper
/// reference: several rows of the batch at a time and, for bf16 on a GPU, products in TF32, for whose loss it allows.
/// Both leave weights, data, optimizer and loss scale as build() made them, and no gradients. live_tensors() has
/// parameters, the gradients that are there, optimizer_state and inputs; of passes that plan their memory casts,
/// activations and workspaces, too. With Execution::kGraph the step is captured by verify(),
/// which also compares four replays with four plain steps (one of a forward pass), and whatever cannot be captured is
/// `unsupported`; `capture_ms` is the host's time for it. With impl:compiled build() throws Unsupported for a package
/// that is damaged or made for anything but the case. `estimated_bytes` of a step whose memory was planned is the peak
/// that the plan expects. Counters of fp16 training: `skipped_steps`, the steps whose gradients were not finite, and
/// `loss_scale`.
/// @throws  UsageError  for an unknown impl, an extent that is not positive, heads that do not divide d_model or an
///                      odd head_dim
[[nodiscard]] std::unique_ptr<Case> make_model_case(ModelConfig config);

}  // namespace tbench::model
