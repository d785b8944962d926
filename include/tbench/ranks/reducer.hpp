// c10d's Reducer, which averages gradients over ranks during the backward pass: the engine of PyTorch's
// DistributedDataParallel, without Python.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tbench/ranks/group.hpp"

namespace tbench::ranks {

/// Averages gradients with the settings of DistributedDataParallel(gradient_as_bucket_view=True): one bucket for the
/// first backward pass, then buckets of the requested size, in the order in which the gradients came. With the default
/// size of 25 MiB the first bucket has 1 MiB, so that communication begins early; with any other `bucket_cap_mb` the
/// first bucket has the requested size.
/// @see  torch/nn/parallel/distributed.py, _ddp_init_helper
class Reducer {
 public:
  /// Must be constructed on every rank, with the same parameters.
  /// @param group         group of the ranks; must outlive the reducer
  /// @param parameters    leaves of autograd on the group's device
  /// @param bucket_bytes  size limit of a bucket
  Reducer(Group& group, const std::vector<at::Tensor>& parameters, std::int64_t bucket_bytes);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// Runs `backward`, after which the parameters' gradients are the means over all ranks and views of the buckets.
  /// @param backward  backward pass, through autograd, of a loss that depends on every parameter
  /// @throws          the exceptions of the group's calls
  void average(const std::function<void()>& backward);
  /// Returns the bytes of all buckets.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tbench::ranks
