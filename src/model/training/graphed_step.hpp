// A training step as CUDA graphs that are captured once and then replayed. There is one graph per phase, so that phases
// can be timed as in a plain step.
#pragma once

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <vector>

#include "model/training/trainer.hpp"
#include "tbench/core/units.hpp"

namespace tbench::model {

/// The graphs share their own memory pool, which lives as long as they do. Tensors that forward keeps for backward lie
/// in this pool, at the addresses that backward was captured with. Clearing cuBLAS's workspaces does not affect a live
/// graph.
///
/// Replays do not use CUDAGraph::replay(), which also sets the states of random generators; no step here reads these.
class GraphedStep {
 public:
  /// Does not capture yet.
  /// @param trainer  must have made a step before, since libraries that are loaded, and algorithms that are chosen, in
  ///                 a first step cannot be captured; must outlive this object
  explicit GraphedStep(Trainer& trainer) : trainer_{trainer}, stream_{c10::cuda::getStreamFromPool()} {}

  /// Enqueues one step on the current stream. If there are no graphs, captures the step first; then the capture marks
  /// the phases, and the call synchronises. Only the capture sets the leaves' gradients, as Trainer::step() does.
  /// @param phases  may be null
  /// @throws  Unsupported  with the reason why the step cannot be captured; c10::OutOfMemoryError passes through
  void launch(PhaseMarker* phases);
  /// Runs a step for a check: fills logits, loss and gradients with NaN before it, and returns outputs and sets
  /// gradients after it.
  void run(StepOutputs& outputs);
  /// Frees the graphs and their memory.
  void discard();

  /// Returns the host time of the last capture, instantiation included.
  [[nodiscard]] Seconds capture_time() const { return capture_time_; }

 private:
  class Capture;
  void capture(PhaseMarker* phases);
  void replay(std::size_t phase) const;
  void poison() const;
  void show_gradients() const;

  Trainer& trainer_;
  c10::cuda::CUDAStream stream_;  // stream of the capture
  std::vector<std::unique_ptr<at::cuda::CUDAGraph>> graphs_;
  // Views of the pool. Logits and loss are valid after the first phase; later phases may overwrite them.
  StepOutputs outputs_;
  std::vector<at::Tensor> gradients_;
  Seconds capture_time_;
};

}  // namespace tbench::model
