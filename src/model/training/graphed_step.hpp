// A training step as CUDA graphs, one per phase, so that the phases can be timed as ever: captured once, replayed
// since.
#pragma once

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <vector>

#include "model/training/trainer.hpp"
#include "tbench/core/units.hpp"

namespace tbench::model {

/// The graphs share a memory pool of their own, which lives as long as they do: what forward keeps for backward lies
/// there at the addresses that backward was captured with. Clearing cuBLAS's workspaces takes none from a live graph.
///
/// Not in CUDAGraph's own replay(): it sets the states of random generators, which no step here reads.
class GraphedStep {
 public:
  /// @param trainer  has made steps before: what is loaded or chosen at the first cannot be captured. Outlives this.
  explicit GraphedStep(Trainer& trainer) : trainer_{trainer}, stream_{c10::cuda::getStreamFromPool()} {}

  /// Enqueues one step on the current stream. Captures it before, where there is none: then the capture makes the
  /// marks, and the call synchronises. Gradients are set as Trainer::step() sets them, at the capture alone.
  /// @param phases  may be null
  /// @throws  Unsupported  with the reason for which the step cannot be captured; OutOfMemory's causes pass through
  void launch(PhaseMarker* phases);
  /// The same for a check: whatever the step is to compute is NaN before it, and shown behind it.
  void run(StepOutputs& outputs);
  /// Frees the graphs and their memory.
  void discard();

  /// Host time of the last capture, instantiation included.
  [[nodiscard]] Seconds capture_time() const { return capture_time_; }

 private:
  class Capture;
  void capture(PhaseMarker* phases);
  void replay(std::size_t phase) const;
  void poison() const;
  void show_gradients() const;

  Trainer& trainer_;
  c10::cuda::CUDAStream stream_;  // of the capture
  std::vector<std::unique_ptr<at::cuda::CUDAGraph>> graphs_;
  // Views of the pool: logits and loss are whole when the first phase has run, later ones may write over them.
  StepOutputs outputs_;
  std::vector<at::Tensor> gradients_;
  Seconds capture_time_;
};

}  // namespace tbench::model
