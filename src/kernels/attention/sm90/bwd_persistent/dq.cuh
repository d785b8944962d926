// dQ in the persistent sm90 backward kernel. A step's dQ is computed at the end of the next step, even if that step
// belongs to the next work tile. It is added to float32 sums (kAtomic) or stored as a partial dQ (kPerKvTile). With
// kPerHead each thread has its own running sums, and dQ itself is stored with the K/V tile of the head's first keys.
#pragma once

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/sm90/bwd_common/softmax_grad.cuh"
#include "kernels/attention/sm90/bwd_persistent/per_head_scheduler.cuh"
#include "kernels/attention/sm90/bwd_persistent/smem.cuh"
#include "kernels/attention/sm90/common/store_rows.cuh"

namespace tbench::kernels::sm90 {

/// Keeps track of the work tiles of the current step and of the previous step, whose dQ is due.
template <class Element, int kHeadDim, DqAccumulation kSums, class Parameters>
class DqMainloop : protected SoftmaxGrad<Element, Parameters, PersistentSmem<kHeadDim>> {
  using Scores = SoftmaxGrad<Element, Parameters, PersistentSmem<kHeadDim>>;

 protected:
  static constexpr bool kByHeads = kSums == DqAccumulation::kPerHead;
  using Scores::kQueries, Scores::kHalvesQueries, Scores::kHalfColumns, Scores::kQueryGradients, Scores::p_,
      Scores::shared_, Scores::group_;
  using Scores::lane, Scores::key_in_group;
  using typename Scores::Shared;

  __device__ __forceinline__ DqMainloop(const Parameters& parameters, Shared shared, int group)
      : Scores{parameters, shared, group} {}

  /// Stage of the work tile's K, V and fields and, below, the stage that the previous step used, whose dQ is due.
  __device__ __forceinline__ std::uint32_t kept() const { return item_ % kKeptStages; }
  __device__ __forceinline__ std::uint32_t late_kept(int i) const {
    return (item_ - (begins_item(i) ? 1 : 0)) % kKeptStages;
  }
  __device__ __forceinline__ bool begins_item(int i) const { return i == begin_; }

  __device__ __forceinline__ int of_item(typename Shared::Field field) const {
    return load_shared(shared_.field(kept(), field));
  }
  __device__ __forceinline__ int of_late_item(typename Shared::Field field, int i) const {
    return load_shared(shared_.field(late_kept(i), field));
  }
  __device__ __forceinline__ int of_late_item(typename Shared::HeadField field, int i) const {
    return load_shared(shared_.field(late_kept(i), field));
  }
  __device__ __forceinline__ int first_query(int i) const {
    if constexpr (kIsGqa<Parameters>) i = shared_.gqa_step(kept(), i).step;
    return sm90::first_query(p_, i + of_item(Shared::kShift), kQueries);
  }
  __device__ __forceinline__ int late_query(int i) const {
    if constexpr (kIsGqa<Parameters>) {
      return sm90::first_query(p_, late_step(i).step + of_late_item(Shared::kShift, i), kQueries);
    } else {
      return sm90::first_query(p_, i - 1 + of_late_item(Shared::kShift, i), kQueries);
    }
  }
  __device__ __forceinline__ StepOfHead late_step(int i) const { return shared_.gqa_step(late_kept(i), i - 1); }
  /// Head of Q of step i - 1 among the heads of all batches.
  __device__ __forceinline__ int late_head(int i) const {
    const int head = of_late_item(Shared::kHeadOfAll, i);
    if constexpr (kIsGqa<Parameters>) {
      return query_head<InjectedFault::kGqaDq>(p_, head, late_step(i).head);
    } else {
      return head;
    }
  }

  /// Issues dQ of step i - 1.
  __device__ __forceinline__ void multiply_query_gradient(float (&dq)[kQueryGradients], int i, bool add) const {
    const SmemDescriptor scores = Scores::scores_operand(i - 1),
                         keys = Scores::keys_operand(shared_.k(late_kept(i), 0));
    Scores::multiply_query_gradient(dq, scores, keys, add);
  }
  __device__ __forceinline__ void take_query_gradient(float (&dq)[kQueryGradients], int i) const {
    if constexpr (kByHeads) {
      keep_query_gradient(dq, i);
    } else {
      add_query_gradient(dq, i);
    }
  }
  __device__ __forceinline__ void add_query_gradient(const float (&dq)[kQueryGradients], int i) const {
    if (injected(InjectedFault::kDqSkipTile) && of_late_item(Shared::kFirstKey, i) == 0) return;
    constexpr bool kApart = kSums == DqAccumulation::kPerKvTile;
    const int sums_before =
        kApart ? of_late_item(Shared::kFirstKey, i) / kBackwardKeys * p_.batch_heads * query_heads(p_) : 0;
    Scores::add_query_gradient(dq, late_query(i), sums_before + late_head(i), [](float* sums, const float* four) {
      kApart ? store_to_global(sums, four) : red_add_v4(sums, four);
    });
  }

  /// With kPerHead, dQ of a whole head's last K/V tile is initialised with the running sums, which are loaded while the
  /// warpgroup waits for the other warpgroup. Returns false if there are no such sums.
  using LateSums = float[kByHeads ? kQueryGradients : 1];
  __device__ __forceinline__ bool load_late_sums(LateSums& sums, int i) const {
    if constexpr (kByHeads) {
#pragma unroll
      for (float& one : sums) one = 0.0f;
      if (i == 0 || !ends_query_gradient(i)) return false;
      const int query = late_query(i);
      if (!has_late_sums(query, i)) return false;
      Scores::add_query_gradient(sums, query, of_late_item(Shared::kHeadOfSums, i),
                                 [&sums](const float* of_four, const float* four) {
                                   const float4 loaded = load_from_global(of_four);
                                   float* const to = sums + (four - sums);
                                   to[0] = loaded.x, to[1] = loaded.y, to[2] = loaded.z, to[3] = loaded.w;
                                 });
      return true;
    } else {
      return false;
    }
  }
  __device__ __forceinline__ static void start_from(float (&dq)[kQueryGradients], const LateSums& sums) {
    if constexpr (kByHeads) {
#pragma unroll
      for (int n = 0; n < kQueryGradients; ++n) dq[n] = opaque(sums[n]);
    }
  }
  /// Whether step i - 1 completes dQ of its queries and, below, whether earlier steps left sums of it.
  __device__ __forceinline__ bool ends_query_gradient(int i) const {
    return p_.order.shares == 1 && of_late_item(Shared::kFirstKey, i) == 0;
  }
  __device__ __forceinline__ bool has_late_sums(int query, int i) const {
    return query >= of_late_item(Shared::kFirstSeen, i) || injected(InjectedFault::kDqFirstSums);
  }

  /// With kPerHead: stores the running sums, which no other thread accesses, or dQ itself at the last K/V tile of a
  /// whole head.
  __device__ __forceinline__ void keep_query_gradient(float (&dq)[kQueryGradients], int i) const {
    if (injected(InjectedFault::kDqSkipTile) && of_late_item(Shared::kFirstKey, i) == 0) {
      for (float& one : dq) one = 0.0f;
    }
    const int query = late_query(i), head = of_late_item(Shared::kHeadOfSums, i);
    if (!ends_query_gradient(i)) {
      const bool has_sums = has_late_sums(query, i);
      return Scores::add_query_gradient(dq, query, head, [has_sums](float* sums, const float* four) {
        has_sums ? red_add_v4(sums, four) : store_to_global(sums, four);
      });
    }
    store_query_gradient(dq, query, i);
  }

  /// Stores the warpgroup's half of dQ from registers.
  __device__ __forceinline__ void store_query_gradient(const float (&dq)[kQueryGradients], int first_query,
                                                       int i) const {
    const TensorView& view = p_.order.dq;
    const int place = lane() % 4, row = first_query + (kHalvesQueries ? group_ * kWgmmaM : 0) + key_in_group(0);
    Element* const first = static_cast<Element*>(view.data) + of_late_item(Shared::kBatch, i) * view.strides[0] +
                           of_late_item(Shared::kHead, i) * view.strides[1] +
                           (kHalvesQueries ? 0 : group_ * kHalfColumns);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // With the injected fault kBackwardKept the row may be negative.
      const bool exists = static_cast<unsigned>(row + half * 8) < static_cast<unsigned>(p_.seq_q);
      Element* const to = first + (row + half * 8) * view.strides[2];
      store_row(to, dq, half, p_.scale, place, exists);
    }
  }

  std::uint32_t item_ = 0;  // number of the work tile in the CTA
  int begin_ = 0;           // first step of the work tile
};

}  // namespace tbench::kernels::sm90
