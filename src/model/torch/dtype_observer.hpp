// Observes the dtypes in which operations run on this thread, by the tensors that they take and return. Meant for a
// pass outside of the timing; without an observer, a layer's mark costs one pointer comparison.
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

/// Distinct floating-point dtypes in the order seen. Masks, token ids and host numbers are not counted.
using Dtypes = std::vector<at::ScalarType>;

/// One outermost operation: no other operation called it.
struct ObservedOperation {
  std::string layer;          // name of the innermost LayerMark; empty outside of all marks
  std::int64_t layer_call{};  // number of the layer call, over all layers, from 1; 0 outside of all marks
  std::string name;           // the dispatcher's name: `aten::linear`
  Dtypes ran_in;              // dtypes of the inputs after autocast's casts
  Dtypes returned;
};

/// Sets the layer name of the operations that run during the mark's lifetime.
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

/// Observes the thread's operations as long as the object lives. These include a backward pass only if it runs on this
/// thread (BackwardOnThisThread). There may be one observer per thread at a time.
class DtypeObserver {
 public:
  DtypeObserver();
  ~DtypeObserver();
  DtypeObserver(const DtypeObserver&) = delete;
  DtypeObserver& operator=(const DtypeObserver&) = delete;

  /// Returns the observed operations in the order in which they ended.
  [[nodiscard]] const std::vector<ObservedOperation>& operations() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
  at::CallbackHandle callback_;
};

/// A common name for one operation of a layer, such as `logits`.
struct OperationRole {
  std::string_view layer;
  std::string_view operation;
  int occurrence{};  // number of the operation within one layer call, from 1; 0 for every one
  std::string_view name;
};

/// Returns `fp32`, `bf16`, ...; several dtypes are joined with `+`.
[[nodiscard]] std::string dtype_text(const Dtypes& dtypes);

/// Returns the dtypes of every role, by the role's name: `fp32`, or `fp32 -> bf16` for an operation that runs in one
/// dtype and returns another. Different texts of one role are joined with commas. A role without an operation is
/// absent.
[[nodiscard]] std::map<std::string, std::string> dtypes_by_role(std::span<const ObservedOperation> operations,
                                                                std::span<const OperationRole> roles);

}  // namespace tbench::model
