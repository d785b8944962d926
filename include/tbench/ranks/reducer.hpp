// c10d's Reducer, which averages gradients over ranks while the backward pass goes on: the engine of PyTorch's
// DistributedDataParallel, without Python.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tbench/ranks/group.hpp"

namespace tbench::ranks {

/// Set up as DistributedDataParallel(gradient_as_bucket_view=True) sets it up: one bucket for the first backward pass,
/// then buckets of the size asked for, in the order in which gradients came. With its default of 25 MiB the first one
/// has 1 MiB, so that communication begins early; with another size, named as `bucket_cap_mb`, it has that.
/// @see  torch/nn/parallel/distributed.py, _ddp_init_helper
class Reducer {
 public:
  /// Must be constructed on every rank, with the same parameters.
  /// @param group         must outlive the reducer
  /// @param parameters    leaves of autograd on the group's device
  /// @param bucket_bytes  size limit of a bucket
  Reducer(Group& group, const std::vector<at::Tensor>& parameters, std::int64_t bucket_bytes);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// Runs `backward`, after which the parameters' gradients are the means over all ranks: views of the buckets.
  /// @param backward  of a loss that depends on every parameter, through autograd
  /// @throws          as the group's calls
  void average(const std::function<void()>& backward);
  /// Bytes of the buckets.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tbench::ranks
