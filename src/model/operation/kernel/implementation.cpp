#include "tbench/model/operation/kernel/implementation.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>
#include <utility>

namespace tbench::model {
namespace {

const std::vector<KernelOp>& kernel_ops() {
  static const std::vector<KernelOp> ops{
      rmsnorm_kernel_op(),   rope_kernel_op(),  swiglu_kernel_op(), softmax_kernel_op(), cross_entropy_kernel_op(),
      embedding_kernel_op(), adamw_kernel_op(), cast_kernel_op(),   add_kernel_op(),
  };
  return ops;
}

/// A deque: pointers into it stay valid when one is added.
std::deque<KernelImpl>& kernel_impls() {
  static std::deque<KernelImpl> impls{
      rmsnorm_aten(),   rope_aten(),  swiglu_aten(), softmax_aten(), cross_entropy_aten(),
      embedding_aten(), adamw_aten(), cast_aten(),   add_aten(),
  };
  return impls;
}

}  // namespace

const KernelOp* find_kernel_op(std::string_view name) {
  const auto found = std::ranges::find(kernel_ops(), name, &KernelOp::name);
  return found != kernel_ops().end() ? &*found : nullptr;
}

const KernelImpl* find_kernel_impl(std::string_view op, std::string_view name) {
  const auto found =
      std::ranges::find_if(kernel_impls(), [&](const KernelImpl& impl) { return impl.op == op && impl.name == name; });
  return found != kernel_impls().end() ? &*found : nullptr;
}

void register_kernel_impl(KernelImpl impl) {
  if (find_kernel_impl(impl.op, impl.name) != nullptr) {
    throw std::invalid_argument{"kernel impl " + impl.name + " of " + impl.op + " exists already"};
  }
  kernel_impls().push_back(std::move(impl));
}

std::vector<std::string> kernel_op_names() {
  std::vector<std::string> names;
  for (const KernelOp& op : kernel_ops()) names.push_back(op.name);
  return names;
}

std::vector<std::string> kernel_impl_names(std::string_view op) {
  std::vector<std::string> names;
  for (const KernelImpl& impl : kernel_impls()) {
    if (impl.op == op) names.push_back(impl.name);
  }
  return names;
}

std::vector<std::string> kernel_impl_names() {
  std::vector<std::string> names;
  for (const KernelImpl& impl : kernel_impls()) {
    if (std::ranges::find(names, impl.name) == names.end()) names.push_back(impl.name);
  }
  return names;
}

}  // namespace tbench::model
