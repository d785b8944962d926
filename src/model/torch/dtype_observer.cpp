#include "model/torch/dtype_observer.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tbench::model {

/// Depth and name distinguish an operation from the operations that it calls. Autocast casts the inputs and calls the
/// operation again by the same name, so the innermost call of that name has the inputs that are computed with.
struct DtypeObserver::State {
  const char* layer{""};
  std::int64_t layer_call{};
  std::int64_t layer_calls{};
  int depth{};
  ObservedOperation current;
  std::vector<ObservedOperation> operations;
};

namespace {

thread_local DtypeObserver::State* observing = nullptr;

void note_dtype(Dtypes& dtypes, const at::Tensor& tensor) {
  // A wrapped number is a scalar of the host (x / 2.0), which type promotion ignores next to tensors.
  if (!tensor.defined() || tensor.unsafeGetTensorImpl()->is_wrapped_number()) return;
  const at::ScalarType dtype = tensor.scalar_type();
  if (at::isFloatingType(dtype) && std::ranges::find(dtypes, dtype) == dtypes.end()) dtypes.push_back(dtype);
}

template <class Values>
Dtypes dtypes_of(const Values& values) {
  Dtypes dtypes;
  for (const c10::IValue& value : values) {
    if (value.isTensor()) note_dtype(dtypes, value.toTensor());
    if (!value.isTensorList()) continue;
    for (const at::Tensor& tensor : value.toTensorVector()) note_dtype(dtypes, tensor);
  }
  return dtypes;
}

/// Returns whether the function is autograd's call of a node, which is not itself an operation: its operations count.
bool is_backward_node(const at::RecordFunction& function) {
  return std::string_view{function.name()}.starts_with("autograd::engine::evaluate_function");
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  if (is_backward_node(function)) return nullptr;
  DtypeObserver::State& state = *observing;
  if (state.depth++ == 0) {
    state.current = {.layer = state.layer,
                     .layer_call = state.layer_call,
                     .name = function.name(),
                     .ran_in = dtypes_of(function.inputs()),
                     .returned = {}};
  } else if (state.current.name == function.name()) {
    state.current.ran_in = dtypes_of(function.inputs());
  }
  return nullptr;
}

void on_end(const at::RecordFunction& function, at::ObserverContext*) {
  if (is_backward_node(function)) return;
  DtypeObserver::State& state = *observing;
  if (--state.depth > 0) return;
  state.current.returned = dtypes_of(function.outputs());
  state.operations.push_back(std::exchange(state.current, {}));
}

std::string dtype_name(at::ScalarType dtype) {
  if (dtype == at::kFloat) return "fp32";
  if (dtype == at::kBFloat16) return "bf16";
  if (dtype == at::kHalf) return "fp16";
  return dtype == at::kDouble ? "fp64" : c10::toString(dtype);
}

std::string text_of(const ObservedOperation& operation) {
  const std::string returned = dtype_text(operation.returned);
  if (operation.ran_in.empty() || operation.ran_in == operation.returned) return returned;
  return fmt::format("{} -> {}", dtype_text(operation.ran_in), returned);
}

}  // namespace

LayerMark::LayerMark(const char* name) {
  if (observing == nullptr) return;
  outer_name_ = std::exchange(observing->layer, name);
  outer_call_ = std::exchange(observing->layer_call, ++observing->layer_calls);
}

LayerMark::~LayerMark() {
  if (observing == nullptr || outer_name_ == nullptr) return;
  observing->layer = outer_name_;
  observing->layer_call = outer_call_;
}

DtypeObserver::DtypeObserver() : state_{std::make_unique<State>()} {
  if (observing != nullptr) throw std::logic_error{"DtypeObserver: this thread is being observed already"};
  observing = state_.get();
  callback_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback{&on_start, &on_end}.needsInputs(true).needsOutputs(true).scopes(
          {at::RecordScope::FUNCTION}));
}

DtypeObserver::~DtypeObserver() {
  at::removeCallback(callback_);
  observing = nullptr;
}

const std::vector<ObservedOperation>& DtypeObserver::operations() const { return state_->operations; }

std::string dtype_text(const Dtypes& dtypes) {
  std::vector<std::string> names;
  for (const at::ScalarType dtype : dtypes) names.push_back(dtype_name(dtype));
  return fmt::format("{}", fmt::join(names, "+"));
}

std::map<std::string, std::string> dtypes_by_role(std::span<const ObservedOperation> operations,
                                                  std::span<const OperationRole> roles) {
  std::map<std::string, std::vector<std::string>> found;
  std::map<std::pair<std::int64_t, std::string>, int> occurrences;
  for (const ObservedOperation& operation : operations) {
    const int occurrence = ++occurrences[{operation.layer_call, operation.name}];
    for (const OperationRole& role : roles) {
      if (role.layer != operation.layer || role.operation != operation.name) continue;
      if (role.occurrence != 0 && role.occurrence != occurrence) continue;
      std::vector<std::string>& texts = found[std::string{role.name}];
      const std::string text = text_of(operation);
      if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
    }
  }
  std::map<std::string, std::string> result;
  for (const auto& [name, texts] : found) result[name] = fmt::format("{}", fmt::join(texts, ", "));
  return result;
}

}  // namespace tbench::model
