// The parts of a Group: c10d's backends, and whether one of them has failed.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <stdexcept>

#include "ranks/torch_store.hpp"
#include "tbench/ranks/group.hpp"

namespace tbench::ranks {

using BackendPointer = c10::intrusive_ptr<c10d::Backend>;

struct Group::Backends {
  int rank{};
  int size{};
  bool on_gpu{};
  c10::intrusive_ptr<c10d::Store> store;
  BackendPointer control;  // gloo, for numbers
  BackendPointer data;     // for tensors; on a CPU the same as control
  bool has_failed{};
  std::atomic<std::int64_t> calls{};  // another thread reads it

  /// Runs an action that needs the other ranks. A lack of memory on this rank is not a failure of the group.
  template <class Action>
  auto guard(const char* what, const Action& action) {
    ++calls;
    try {
      return action();
    } catch (const c10::OutOfMemoryError&) {
      throw;
    } catch (const std::exception& error) {
      has_failed = true;
      throw std::runtime_error{fmt::format("rank {} lost the others in {}: {}", rank, what, message_of(error))};
    }
  }

  /// Starts a collective operation and waits for it; on a GPU the current stream waits.
  template <class Start>
  void run(const char* what, const Start& start) {
    guard(what, [&] {
      const c10::intrusive_ptr<c10d::Work> work = start();
      if (work) work->wait();
    });
  }

  /// Starts the mean over ranks with NCCL, or the sum with gloo, which divide() turns into the mean.
  [[nodiscard]] c10::intrusive_ptr<c10d::Work> start_mean(const at::Tensor& tensor) const {
    std::vector<at::Tensor> tensors{tensor};
    c10d::AllreduceOptions options;
    options.reduceOp = mean_op();
    return data->allreduce(tensors, options);
  }
  /// Divides a sum from gloo, which has no mean, by the number of ranks.
  void divide(at::Tensor& sum) const {
    if (!on_gpu) sum.div_(size);
  }
  [[nodiscard]] c10d::ReduceOp mean_op() const { return on_gpu ? c10d::ReduceOp::AVG : c10d::ReduceOp::SUM; }
};

}  // namespace tbench::ranks
