// Kernel implementations from packages.
#include <stdexcept>
#include <utility>

#include "model/plugins/arguments.hpp"
#include "model/plugins/package.hpp"
#include "model/plugins/plugin_family.hpp"

namespace tbench::model {
namespace {

/// The results of prepare(), kept in KernelOperands::made.
struct PreparedPackage {
  PackageGraphs graphs;
  std::vector<at::ScalarType> dtypes;          // dtypes of the timed pass's results
  std::vector<at::ScalarType> forward_dtypes;  // dtypes of the forward pass, in a backward case
  std::vector<at::Tensor> returned;            // outputs of the forward pass before a backward
};

PackageQuestion kernel_question(const KernelConfig& config) {
  return {.precision = std::string{to_string(config.precision)},
          .flags = {},
          .with_backward = config.pass == KernelPass::kBackward,
          .extents = {{"tokens", config.tokens()},
                      {"batch", config.batch},
                      {"context", config.context},
                      {"d_model", config.size.d_model},
                      {"d_ff", config.size.d_ff},
                      {"heads", config.size.num_heads},
                      {"head_dim", config.size.head_dim()},
                      {"vocab_size", config.size.vocab_size}}};
}

std::vector<at::ScalarType> result_dtypes(const std::vector<TensorLayout>& layouts) {
  std::vector<at::ScalarType> dtypes;
  for (const TensorLayout& layout : layouts) dtypes.push_back(c10::typeMetaToScalarType(layout.options.dtype()));
  return dtypes;
}

void prepare_kernel_package(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  const bool with_backward = config.pass == KernelPass::kBackward;
  if (!operands.made) {
    const PackageQuestion question = kernel_question(config);
    auto made = std::make_shared<PreparedPackage>(
        PreparedPackage{.graphs = load_package_graphs(package_of(config.impl, config.device, question), question),
                        .dtypes = result_dtypes(aten_layouts(config, config.pass)),
                        .forward_dtypes = {},
                        .returned = {}});
    if (with_backward) made->forward_dtypes = result_dtypes(aten_layouts(config, KernelPass::kForward));
    operands.made = std::move(made);
  }
  if (!with_backward) return;
  auto& package = *static_cast<PreparedPackage*>(operands.made.get());
  package.returned.clear();
  package.returned = package.graphs.forward.run(operands.inputs, package.forward_dtypes);
}

const PreparedPackage& prepared_package(const KernelOperands& operands) {
  if (!operands.made) throw std::logic_error{"a package's prepare() must come first"};
  return *static_cast<const PreparedPackage*>(operands.made.get());
}

std::vector<at::Tensor> kernel_package_forward(const KernelOperands& operands) {
  const PreparedPackage& package = prepared_package(operands);
  return package.graphs.forward.run(operands.inputs, package.dtypes);
}

std::vector<at::Tensor> kernel_package_backward(const KernelOperands& operands) {
  const PreparedPackage& package = prepared_package(operands);
  std::vector<at::Tensor> inputs = operands.inputs;
  inputs.insert(inputs.end(), package.returned.begin(), package.returned.end());
  inputs.insert(inputs.end(), operands.gradients.begin(), operands.gradients.end());
  return package.graphs.backward.value().run(inputs, package.dtypes);
}

}  // namespace

KernelImpl package_kernel_impl(const std::string& name) {
  return {.name = name,
          .unsupported_reason =
              [](const KernelConfig& config) {
                const PackageQuestion question = kernel_question(config);
                return package_refusal(package_of(config.impl, config.device, question), question);
              },
          .prepare = &prepare_kernel_package,
          .forward = &kernel_package_forward,
          .backward = &kernel_package_backward,
          .is_watched = true};
}

}  // namespace tbench::model
