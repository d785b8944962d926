// Looks at the tensors that operations take and return on this thread: in which dtype each of them runs. For a pass
// beside the timed ones; where nobody observes, a layer's mark costs the look at one pointer.
#pragma once

#include <ATen/record_function.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbench::model {

/// Floating-point dtypes in the order seen, each once. Masks, token ids and host numbers have none.
using Dtypes = std::vector<at::ScalarType>;

/// One operation that was called from outside of other operations.
struct ObservedOperation {
  std::string layer;          // of the innermost LayerMark; empty outside of all
  std::int64_t layer_call{};  // which entry of any mark it belongs to; 0 outside of all
  std::string name;           // as the dispatcher knows it: `aten::linear`
  Dtypes ran_in;              // of its inputs, after autocast's casts
  Dtypes returned;
};

/// Names the operations until its end.
class LayerMark {
 public:
  explicit LayerMark(const char* name);
  ~LayerMark();
  LayerMark(const LayerMark&) = delete;
  LayerMark& operator=(const LayerMark&) = delete;

 private:
  const char* outer_name_{};
  std::int64_t outer_call_{};
};

/// Observes the thread's operations until its end; the backward pass is left out. One at a time on a thread.
class DtypeObserver {
 public:
  DtypeObserver();
  ~DtypeObserver();
  DtypeObserver(const DtypeObserver&) = delete;
  DtypeObserver& operator=(const DtypeObserver&) = delete;

  /// Calls in the order of their ends.
  [[nodiscard]] const std::vector<ObservedOperation>& operations() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
  at::CallbackHandle callback_;
};

/// Which operation of a layer computes what people have a name for.
struct OperationRole {
  std::string_view layer;
  std::string_view operation;
  int occurrence{};  // within a call of the layer, from 1; 0: every one
  std::string_view name;
};

/// `fp32`, `bf16`, ...; several are joined with `+`.
[[nodiscard]] std::string dtype_text(const Dtypes& dtypes);

/// The dtypes of every role, by name: `fp32`, or `fp32 -> bf16` for an operation that runs in one and returns another;
/// several different ones of a role are joined with commas. A role that no operation plays is absent.
[[nodiscard]] std::map<std::string, std::string> dtypes_by_role(std::span<const ObservedOperation> operations,
                                                                std::span<const OperationRole> roles);

}  // namespace tbench::model
