// One step of the studies' transformer, free of LibTorch in its interface: what a benchmark case builds, checks and
// launches.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/model_size.hpp"
#include "tbench/core/precision.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

struct ModelStepConfig {
  ModelSize size;
  std::int64_t context{};  // tokens a sequence
  std::int64_t batch{};
  Pass pass{};
  Precision precision{};
  std::string impl;  // "eager", "sdpa": see model_impl.hpp
  DeviceKind device{};
  std::uint64_t seed{};
  std::int64_t vocab_size{kVocabSize};
};

/// The names `impl` takes, in order.
[[nodiscard]] std::vector<std::string> model_impl_names();

/// Called at the end of the forward pass, of the backward pass and of the optimizer, as far as the pass goes.
using PhaseEnd = std::function<void()>;

class ModelStep {
 public:
  /// @throws  UsageError  for an unknown impl, an extent that is not positive, heads that do not divide d_model or an
  ///                      odd head_dim
  explicit ModelStep(ModelStepConfig config);
  ~ModelStep();
  ModelStep(const ModelStep&) = delete;
  ModelStep& operator=(const ModelStep&) = delete;

  /// Why the device cannot run this configuration, or nothing. Needs no build().
  [[nodiscard]] std::optional<std::string> unsupported_reason() const;
  /// Makes weights (seeded), token ids (seeded, uniform), optimizer state.
  /// @throws  OutOfMemory
  void build();
  /// Compares logits, loss, and as far as the pass goes every gradient and every parameter's update with a reference
  /// in higher precision (float64 for fp32, float32 without TF32 for the others) of the same weights and inputs. The
  /// logits are those of the timed batch, its first row compared; gradients and update are those of one row.
  /// Leaves weights, optimizer and loss scale as build() made them, and no gradients. Synchronises.
  /// @throws  OutOfMemory
  [[nodiscard]] Verification verify();
  /// Enqueues one step on the current stream. Never synchronises. Gradients are set to none at its start; those of
  /// fp16 stay multiplied by the loss scale where no optimizer follows. `phase_end` may be empty.
  /// @throws  OutOfMemory
  void launch(const PhaseEnd& phase_end);
  /// Bytes of parameters, gradients, optimizer_state and activations (the rest of the peak) for a training step;
  /// parameters and activations otherwise.
  [[nodiscard]] std::map<std::string, std::int64_t> memory_split(std::int64_t allocated_peak) const;
  /// fp16 training: `skipped_steps`, the steps whose gradients were not finite, and `loss_scale`. Synchronises.
  [[nodiscard]] std::map<std::string, double> counters();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tbench::model
