// Cases of the Model family: one step of the studies' transformer. The interface is free of LibTorch.
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

/// The part of a larger batch that a step processes: part `index` of `count` equal parts.
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
  Execution exec{Execution::kStream};
  std::string packages{};  // folder of the packages that tools/compile_model.py made; empty if there are none
  BatchPart part{};        // of part.count * batch sequences; by default all of them
};

/// Returns all valid values of ModelConfig::impl, in order.
[[nodiscard]] std::vector<std::string> model_impl_names();

/// Makes a Model case. Its functions:
/// - build() makes seeded weights, seeded uniform token ids and the optimizer's state. With impl:compiled, it throws
///   Unsupported for a package that is damaged or was not made for this case.
/// - verify() runs the timed step and compares it with a reference of the same weights and inputs in higher precision:
///   float64 for fp32, float32 without TF32 for other precisions. It compares the logits of every row of the batch and,
///   as far as the pass goes, the batch's loss, every gradient, the optimizer's moments and every parameter's update.
/// - verify_again() repeats this with the weights and tokens of another seed, without the moments and the update's
///   norms, and with a cheaper reference. The reference runs several rows of the batch at a time and, for bf16 on a
///   GPU, multiplies in TF32, whose rounding the tolerances include.
/// - Both leave weights, data, optimizer and loss scale as build() made them, and no gradients.
/// - live_tensors() has parameters, existing gradients, optimizer_state and inputs; for passes that plan their memory,
///   also casts, activations and workspaces.
///
/// With Execution::kGraph, verify() captures the step and also compares four replays with four plain steps (one of each
/// for a forward pass). A step that cannot be captured is `unsupported`; `capture_ms` is the host's time for the
/// capture. `estimated_bytes` is the planned peak of a step whose memory is planned. Counters of fp16 training:
/// `skipped_steps`, the number of steps whose gradients were not finite, and `loss_scale`.
/// @throws  UsageError  for an unknown impl, an extent that is not positive, heads that do not divide d_model or an
///                      odd head_dim
[[nodiscard]] std::unique_ptr<Case> make_model_case(ModelConfig config);

}  // namespace tbench::model
