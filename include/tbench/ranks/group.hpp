// The ranks of a run as one group that exchanges data: c10d's process groups, NCCL between GPUs and gloo between CPUs.
// Each case makes a new group, so that no failure of an earlier group can reach it.
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

/// All ranks make every call, in the same order. A call in which another rank does not take part throws
/// std::runtime_error, at the latest after the group's time limit; after that the group cannot be used any more. On
/// GPUs, calls on tensors only enqueue on the current stream; CUDA or NCCL reports an error that comes later.
class Group {
 public:
  /// Joins the group. Waits for the other ranks.
  /// @param name    name of this group among the groups that the ranks make, the same on all of them
  /// @param on_gpu  whether the tensors are on the current CUDA device rather than on the CPU
  /// @param limit   time limit of this call and of every other call
  /// @throws        std::runtime_error; Unsupported on GPUs if the program was built without NCCL
  Group(const Launch& launch, const std::string& name, bool on_gpu, Seconds limit);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// Returns `nccl` or `gloo`.
  [[nodiscard]] std::string backend() const;
  /// Returns whether a call has failed. If so, an error that this rank reports for its case is a consequence, not the
  /// cause.
  [[nodiscard]] bool has_failed() const;
  /// Returns the number of calls that have begun on this rank. Any thread may call it.
  [[nodiscard]] std::int64_t calls() const;

  /// Returns the numbers of every rank, in the order of the ranks. Always goes through the CPU. Synchronises the ranks.
  /// @param own     this rank's numbers: at least one, the same count on every rank
  /// @throws        std::invalid_argument  if `own` is empty, since no rank would then wait for the others
  [[nodiscard]] std::vector<std::vector<double>> gather(std::span<const double> own);

  // All operations take contiguous tensors on the group's device, of one dtype.
  void all_reduce(at::Tensor& data);                           // sums over the ranks, in place
  void all_gather(at::Tensor& output, at::Tensor& input);      // output has size() times the elements of input
  void reduce_scatter(at::Tensor& output, at::Tensor& input);  // sums; input has size() times the elements of output
  void broadcast(at::Tensor& data);                            // copies the data of rank 0, in place
  void all_to_all(at::Tensor& output, at::Tensor& input);      // sends part i of input to rank i
  void send_to_next(at::Tensor& received, at::Tensor& sent);   // around the ring of the ranks
  void mean(at::Tensor& data);                                 // averages over the ranks, in place
  void mean_scatter(at::Tensor& output, at::Tensor& input);    // reduce_scatter() with means instead of sums

  /// Starts mean(), but returns before the other ranks have taken part. Nothing may use `data` before wait() has
  /// returned.
  [[nodiscard]] Pending start_mean(at::Tensor& data);
  /// Starts all_reduce() in the same way.
  [[nodiscard]] Pending start_all_reduce(at::Tensor& data);

  /// Runs an action that exchanges data between the ranks by calls that are not the group's own. Treats its exceptions
  /// as failures of the group, except for a lack of memory.
  void guard(const char* what, const std::function<void()>& action);

 private:
  friend class Pending;
  friend class Reducer;
  struct Backends;
  std::unique_ptr<Backends> backends_;
};

/// An operation of a group that was started. The group must outlive it.
class Pending {
 public:
  Pending(Pending&& other) noexcept;
  Pending& operator=(Pending&& other) noexcept;
  ~Pending();

  /// Waits for the result: on a CPU the caller waits, on a GPU the current stream. May be called once.
  /// @throws  the exceptions of the group's calls
  void wait();

 private:
  friend class Group;
  struct State;
  explicit Pending(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tbench::ranks
