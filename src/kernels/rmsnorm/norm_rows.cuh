// Rows in the norm's kernels: the threads that hold a row, their sum over it, and the loads of the next rows. A CTA
// takes row after row; a thread has the same columns of each row.
#pragma once

#include "kernels/common/cp_async.cuh"
#include "kernels/common/step_fault.cuh"
#include "kernels/common/vectors.cuh"
#include "kernels/rmsnorm/plan.hpp"

namespace tbench::kernels {

inline constexpr int kNormMaxWarps = norm_max_threads(kNormFewElements) / kWarpThreads;

/// Coordinates of this thread: the index of its group in the CTA, and `lane`, its index among the `threads` threads of
/// the group, which hold a row.
struct NormGroup {
  int index, lane, threads;
  __device__ explicit NormGroup(int threads_of_row)
      : index{static_cast<int>(threadIdx.x) / threads_of_row},
        lane{static_cast<int>(threadIdx.x) % threads_of_row},
        threads{threads_of_row} {}

  /// Returns the sum over the group's threads, in every thread of the group. Calls alternate between two sets of
  /// `partials`, so that one barrier per call is enough: before a thread writes a set again, it has passed a barrier at
  /// which all threads had finished reading that set.
  __device__ float sum(float value, float (&partials)[2][kNormMaxWarps], int& turn) const {
    value = warp_sum(value);
    if (threads == kWarpThreads) return value;
    const int warps = threads / kWarpThreads, first = index * warps;
    float* const mine = partials[turn];
    turn ^= 1;
    if (lane >= kWarpThreads) delay(InjectedStepFault::kNormBarrier);
    if (lane % kWarpThreads == 0) mine[first + lane / kWarpThreads] = value;
    if (!injected(InjectedStepFault::kNormBarrier)) named_barrier_sync(index + 1, threads);
    const int warp_lane = lane % kWarpThreads;
    return warp_sum(warp_lane < warps ? mine[first + warp_lane] : 0.0F);
  }
};

/// A thread's vectors of a row of one tensor, either in registers or, for `kAhead` rows, in the thread's own slots of
/// shared memory. A thread reads only vectors that it has copied itself, so no barrier is needed.
template <class Element, int kWidth, int kVectors, int kAhead>
class RowVectors {
 public:
  using Vector = Word<Element, kWidth>;
  static constexpr int kSlotBytesOfThread = kAhead * kVectors * static_cast<int>(sizeof(Vector));

  /// @param shared  pointer into the CTA's shared memory; advanced past this tensor's slots
  __device__ explicit RowVectors(char*& shared) : slots_{reinterpret_cast<Vector*>(shared) + threadIdx.x} {
    shared += kSlotBytesOfThread * blockDim.x;
  }

  __device__ void fetch(int slot, int i, const Element* from) {
    if constexpr (kAhead == 0) {
      held_[i] = load_once<kWidth>(from);
    } else {
      cp_async(slots_ + place(slot, i), from);
    }
  }
  /// Reads vector i. Each call reads it again, so that registers need not hold the float32 values in between.
  __device__ void get(int slot, int i, float (&values)[kWidth]) {
    if constexpr (kAhead == 0) {
      opaque(held_[i]);
      unpack<Element, kWidth>(held_[i], values);
    } else {
      unpack<Element, kWidth>(slots_[place(slot, i)], values);
    }
  }
  __device__ float get(int slot, int i) {
    static_assert(kWidth == 1);
    float value[1];
    get(slot, i, value);
    return value[0];
  }

 private:
  __device__ static int place(int slot, int i) { return (slot * kVectors + i) * static_cast<int>(blockDim.x); }

  Vector* slots_;
  Vector held_[kAhead == 0 ? kVectors : 1];
};

/// The weight's vectors: held in registers for all rows if they are few, otherwise read for each row.
template <class Element, int kWidth, int kVectors, bool kHeld>
class WeightVectors {
 public:
  __device__ explicit WeightVectors(const void* weight) : weight_{static_cast<const Element*>(weight)} {}
  __device__ void fetch(int i, int column) {
    if (injected(InjectedStepFault::kNormWeightColumn)) column = column < kWidth ? column : column - kWidth;
    if constexpr (kHeld) held_[i] = load_cached<kWidth>(weight_ + column);
  }
  __device__ void get(int i, int column, float (&values)[kWidth]) {
    if constexpr (kHeld) {
      opaque(held_[i]);
      unpack<Element, kWidth>(held_[i], values);
    } else {
      unpack<Element, kWidth>(load_cached<kWidth>(weight_ + column), values);
    }
  }

 private:
  const Element* weight_;
  Word<Element, kWidth> held_[kHeld ? kVectors : 1];
};

}  // namespace tbench::kernels
