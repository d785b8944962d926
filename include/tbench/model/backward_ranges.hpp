// Which part of the forward pass a backward operation belongs to. Free of LibTorch in its interface.
#pragma once

#include <memory>

namespace tbench::model {

/// While it lives, each node of autograd that this thread runs in a range (BACKWARD, say) is inside the ranges in which
/// the forward pass made it, but for the outermost one: what `attention.softmax` of `layer.3` did is undone in
/// BACKWARD, `layer.3`, `attention`, `attention.softmax`. The ranges stay until a node of other ones begins, so that
/// the sums of gradients between nodes, and their accumulation, are inside as well. NVTX sees them too.
///
/// Listens in front of whoever listens to ranges when it is made, and passes everything on. Make and end it on the
/// thread of the passes, outside of any range.
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
