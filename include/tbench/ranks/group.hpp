// The ranks of a run as one group that exchanges data: c10d's process groups, NCCL between GPUs and gloo between CPUs.
// One group a case: whatever became of an earlier one cannot reach it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/units.hpp"
#include "tbench/ranks/launch.hpp"

namespace at {
class Tensor;
}

namespace tbench::ranks {

class Pending;

/// Every call is one that all ranks make, in the same order. A call in which another rank does not take part throws
/// std::runtime_error, at the latest after the group's time limit; the group cannot be used any more then. On GPUs
/// calls on tensors only enqueue on the current stream, and what goes wrong behind them is CUDA's or NCCL's to tell.
class Group {
 public:
  /// Waits for the other ranks.
  /// @param name    of this group among those that the ranks make, the same on all of them
  /// @param on_gpu  tensors are on the current CUDA device, else on the CPU
  /// @param limit   of this call and of every other one
  /// @throws        std::runtime_error; Unsupported, on GPUs, where the program was built without NCCL
  Group(const Launch& launch, const std::string& name, bool on_gpu, Seconds limit);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// `nccl` or `gloo`.
  [[nodiscard]] std::string backend() const;
  /// Whether a call has failed: what this rank then says of its case is a consequence, not the cause.
  [[nodiscard]] bool has_failed() const;
  /// How many calls have begun, on this rank. From any thread.
  [[nodiscard]] std::int64_t calls() const;

  /// The numbers of every rank, in the ranks' order. Always through the CPU. Synchronises the ranks.
  /// @param own     as many on every rank, at least one
  /// @throws        std::invalid_argument  for none, for which no rank would wait
  [[nodiscard]] std::vector<std::vector<double>> gather(std::span<const double> own);

  // Contiguous tensors of the group's device, of one dtype.
  void all_reduce(at::Tensor& data);                           // the sum, in place
  void all_gather(at::Tensor& output, at::Tensor& input);      // output: size() x input
  void reduce_scatter(at::Tensor& output, at::Tensor& input);  // the sum; input: size() x output
  void broadcast(at::Tensor& data);                            // of rank 0, in place
  void all_to_all(at::Tensor& output, at::Tensor& input);      // part i of input goes to rank i
  void send_to_next(at::Tensor& received, at::Tensor& sent);   // around the ring of the ranks
  void mean(at::Tensor& data);                                 // in place
  void mean_scatter(at::Tensor& output, at::Tensor& input);    // as reduce_scatter

  /// Starts mean(), but returns before the others have taken part. Until wait() has returned nobody may use `data`.
  [[nodiscard]] Pending start_mean(at::Tensor& data);
  /// Starts all_reduce() in the same way.
  [[nodiscard]] Pending start_all_reduce(at::Tensor& data);

  /// Runs an action that exchanges data between the ranks by other calls than these. Its exceptions are failures of the
  /// group, unless memory is lacking.
  void guard(const char* what, const std::function<void()>& action);

 private:
  friend class Pending;
  friend class Reducer;
  struct Backends;
  std::unique_ptr<Backends> backends_;
};

/// An operation of a group that was started. The group outlives it.
class Pending {
 public:
  Pending(Pending&& other) noexcept;
  Pending& operator=(Pending&& other) noexcept;
  ~Pending();

  /// Once: on a CPU waits for the result, on a GPU the current stream does.
  /// @throws  as the group's calls
  void wait();

 private:
  friend class Group;
  struct State;
  explicit Pending(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tbench::ranks
