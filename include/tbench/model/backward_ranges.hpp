// Attributes backward operations to parts of the forward pass. The interface is free of LibTorch.
#pragma once

#include <memory>

namespace tbench::model {

/// Runs each autograd node inside the ranges in which the forward pass made the node, as long as this object lives. The
/// outermost forward range is left out: for an operation in `attention.softmax` of `layer.3`, the gradient is computed
/// in BACKWARD, `layer.3`, `attention`, `attention.softmax`. Covers the nodes that this thread runs while a range such
/// as BACKWARD is open. The ranges stay open until a node of different ranges begins, so that sums of gradients between
/// nodes, and their accumulation, are inside as well. NVTX gets these ranges, too.
///
/// The constructor installs a range listener that forwards every event to the listener that was installed before.
/// Construct and destroy the object on the thread of the passes, outside of any range.
class BackwardRanges {
 public:
  BackwardRanges();
  ~BackwardRanges();
  BackwardRanges(const BackwardRanges&) = delete;
  BackwardRanges& operator=(const BackwardRanges&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tbench::model
