// Kernel implementations from plug-ins. The results of a pass have the shapes and types of the results of `aten`.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "model/operations/kernels/implementation.hpp"
#include "model/plugins/arguments.hpp"
#include "model/plugins/package.hpp"
#include "model/plugins/plugin_family.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

constexpr std::string_view kKernelPart = "Kernel/op:";

/// The arguments of a plug-in's passes besides the operands, kept in KernelOperands::made.
struct PreparedKernel {
  const tbench_kernel& functions;
  tbench_kernel_problem problem{};
  std::vector<TensorLayout> layouts;  // layouts of the timed pass's results
  std::vector<TensorLayout> forward_layouts;
  std::vector<at::Tensor> outputs;  // results of the forward pass before a backward
  at::Tensor saved;
};

const tbench_kernel& kernel_functions(const KernelConfig& config) {
  return *library_of(config.impl, config.device).kernel;
}

tbench_kernel_problem kernel_problem(const KernelConfig& config) {
  return {.device = plugin_device(config.device),
          .precision = plugin_precision(config.precision),
          .pass = config.pass == KernelPass::kForward ? TBENCH_FORWARD : TBENCH_BACKWARD,
          .reserved = 0,
          .op = kernel_ops().at(config.op).name.c_str(),
          .batch = config.batch,
          .context = config.context,
          .d_model = config.size.d_model,
          .d_ff = config.size.d_ff,
          .heads = config.size.num_heads,
          .head_dim = config.size.head_dim(),
          .vocab_size = config.size.vocab_size};
}

std::vector<at::Tensor> empty_tensors(const std::vector<TensorLayout>& layouts) {
  std::vector<at::Tensor> tensors;
  for (const TensorLayout& layout : layouts) tensors.push_back(at::empty(layout.sizes, layout.options));
  return tensors;
}

std::vector<tbench_tensor> plugin_tensors(const std::vector<at::Tensor>& tensors) {
  std::vector<tbench_tensor> all;
  for (const at::Tensor& tensor : tensors) all.push_back(plugin_tensor(tensor));
  return all;
}

const PreparedKernel& prepared(const KernelOperands& operands) {
  if (!operands.made) throw std::logic_error{"a plug-in's prepare() must come first"};
  return *static_cast<const PreparedKernel*>(operands.made.get());
}

/// Calls forward() or backward() of the plug-in.
void call(const KernelOperands& operands, bool is_forward, const std::vector<at::Tensor>& results) {
  const KernelConfig& config = operands.config;
  const PreparedKernel& kernel = prepared(operands);
  const auto bytes = kernel.functions.workspace_bytes;
  const at::Tensor workspace =
      plugin_bytes(bytes == nullptr ? 0 : bytes(&kernel.problem), config.device, config.impl, "workspace_bytes");
  const std::vector<tbench_tensor> inputs = plugin_tensors(operands.inputs), to = plugin_tensors(results);
  const std::vector<tbench_tensor> gradients =
      plugin_tensors(is_forward ? std::vector<at::Tensor>{} : operands.gradients);
  const std::vector<tbench_tensor> outputs = plugin_tensors(is_forward ? std::vector<at::Tensor>{} : kernel.outputs);
  const auto count = [](const std::vector<tbench_tensor>& tensors) {
    return static_cast<std::int32_t>(tensors.size());
  };
  const tbench_kernel_arguments arguments{.launch = plugin_launch(workspace, config.device),
                                          .num_inputs = count(inputs),
                                          .num_gradients = count(gradients),
                                          .num_outputs = count(outputs),
                                          .num_results = count(to),
                                          .inputs = inputs.data(),
                                          .gradients = gradients.data(),
                                          .outputs = outputs.data(),
                                          .results = to.data(),
                                          .saved = plugin_pointer(kernel.saved)};
  const auto function = is_forward ? kernel.functions.forward : kernel.functions.backward;
  require_no_error(function(&kernel.problem, &arguments), config.impl, is_forward ? "forward" : "backward");
}

void prepare_plugin_kernel(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  const bool with_backward = config.pass == KernelPass::kBackward;
  if (!operands.made) {
    auto kernel = std::make_shared<PreparedKernel>(PreparedKernel{.functions = kernel_functions(config),
                                                                  .problem = kernel_problem(config),
                                                                  .layouts = aten_layouts(config, config.pass),
                                                                  .forward_layouts = {},
                                                                  .outputs = {},
                                                                  .saved = {}});
    if (with_backward) kernel->forward_layouts = aten_layouts(config, KernelPass::kForward);
    operands.made = std::move(kernel);
  }
  if (!with_backward) return;
  auto& kernel = *static_cast<PreparedKernel*>(operands.made.get());
  const auto bytes = kernel.functions.saved_bytes;
  kernel.saved = plugin_bytes(bytes == nullptr ? 0 : bytes(&kernel.problem), config.device, config.impl, "saved_bytes");
  kernel.outputs = empty_tensors(kernel.forward_layouts);
  call(operands, /*is_forward=*/true, kernel.outputs);
}

std::vector<at::Tensor> run_plugin_kernel(const KernelOperands& operands) {
  std::vector<at::Tensor> results = empty_tensors(prepared(operands).layouts);
  call(operands, operands.config.pass == KernelPass::kForward, results);
  return results;
}

std::optional<std::string> kernel_refusal(const KernelConfig& config) {
  const tbench_kernel& functions = kernel_functions(config);
  if (config.pass == KernelPass::kBackward && functions.backward == nullptr) {
    return fmt::format("{} has no backward pass", config.impl);
  }
  if (functions.unsupported == nullptr) return std::nullopt;
  const tbench_kernel_problem problem = kernel_problem(config);
  return plugin_reason(functions.unsupported(&problem));
}

std::vector<std::string> joined_kernels(const tbench_plugin_description& library) {
  if (library.kernel == nullptr) return {};
  if (library.kernel->forward == nullptr) throw UsageError{"its kernel has no forward(): set it"};
  if (library.kernel->ops == nullptr || *library.kernel->ops == nullptr) {
    throw UsageError{"its kernel names no operation: set ops"};
  }
  std::vector<std::string> parts;
  for (const char* const* op = library.kernel->ops; *op != nullptr; ++op) {
    const KernelOp* const known = kernel_ops().find(*op);
    if (known == nullptr)
      throw UsageError{"its kernel names an operation that there is not: " + kernel_ops().unknown(*op)};
    if (known->is_in_place) {
      throw UsageError{
          fmt::format("its kernel names op:{}, which works in place: plug-ins cannot join it, leave it out", *op)};
    }
    parts.push_back(fmt::format("{}{}", kKernelPart, *op));
  }
  return parts;
}

KernelOp& op_of(std::string_view part) {
  part.remove_prefix(kKernelPart.size());
  KernelOp* const op = kernel_ops().find(part);
  if (op == nullptr) throw UsageError{kernel_ops().unknown(part)};
  if (op->is_in_place)
    throw UsageError{fmt::format("it is for op:{}, which works in place: plug-ins cannot join it", part)};
  return *op;
}

void add_kernel(const std::string& name, std::string_view part) {
  op_of(part).impls.add({.name = name,
                         .unsupported_reason = &kernel_refusal,
                         .prepare = &prepare_plugin_kernel,
                         .forward = &run_plugin_kernel,
                         .backward = &run_plugin_kernel,
                         .is_watched = true});
}

}  // namespace

PluginFamily kernel_plugin_family() {
  return {.joined = &joined_kernels,
          .impl_names = &kernel_impl_names,
          .owns = [](std::string_view part) { return part.starts_with(kKernelPart); },
          .add = &add_kernel,
          .add_package = [](const std::string& name,
                            std::string_view part) { op_of(part).impls.add(package_kernel_impl(name)); }};
}

}  // namespace tbench::model
