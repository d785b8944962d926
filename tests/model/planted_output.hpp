// Injects a fault: multiplies the first element of every tensor that an operation returns on this thread.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <memory>
#include <string>
#include <utility>

namespace tbench::model {

class PlantedOutput {
 public:
  /// @param operation  its name in the dispatcher, such as `aten::mm`; results of other dtypes are not changed
  PlantedOutput(std::string operation, at::ScalarType dtype, double factor) {
    fault() = {.operation = std::move(operation), .dtype = dtype, .factor = factor, .planted = false};
    callback_ = at::addThreadLocalCallback(at::RecordFunctionCallback{
        [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; }, &plant}
                                               .needsOutputs(true)
                                               .scopes({at::RecordScope::FUNCTION}));
  }
  ~PlantedOutput() { at::removeCallback(callback_); }
  PlantedOutput(const PlantedOutput&) = delete;
  PlantedOutput& operator=(const PlantedOutput&) = delete;

  [[nodiscard]] static bool planted() { return fault().planted; }

 private:
  struct Fault {
    std::string operation;
    at::ScalarType dtype{};
    double factor{};
    bool planted{};
  };
  static Fault& fault() {
    thread_local Fault one;
    return one;
  }
  static void plant(const at::RecordFunction& function, at::ObserverContext*) {
    Fault& one = fault();
    if (one.operation != function.name()) return;
    for (const c10::IValue& output : function.outputs()) {
      if (!output.isTensor() || output.toTensor().scalar_type() != one.dtype) continue;
      one.planted = true;
      const at::NoGradGuard no_grad;
      output.toTensor().variable_data().flatten().narrow(0, 0, 1).mul_(one.factor);
    }
  }

  at::CallbackHandle callback_{};
};

}  // namespace tbench::model
