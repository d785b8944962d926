// Gemm implementations from plug-ins.
#include "model/operations/gemm/implementation.hpp"
#include "model/plugins/arguments.hpp"
#include "model/plugins/package.hpp"
#include "model/plugins/plugin_family.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

constexpr std::string_view kGemmPart = "Gemm";

const tbench_gemm& gemm_functions(const GemmConfig& config) { return *library_of(config.impl, config.device).gemm; }

tbench_gemm_problem gemm_problem(const GemmConfig& config) {
  return {.device = plugin_device(config.device),
          .precision = plugin_precision(config.precision),
          .m = config.m,
          .n = config.n,
          .k = config.k};
}

class PluginGemm final : public GemmProduct {
 public:
  explicit PluginGemm(const GemmOperands& operands)
      : functions_{gemm_functions(operands.config)},
        impl_{operands.config.impl},
        problem_{gemm_problem(operands.config)},
        workspace_{plugin_bytes(functions_.workspace_bytes == nullptr ? 0 : functions_.workspace_bytes(&problem_),
                                operands.config.device, impl_, "workspace_bytes")},
        arguments_{.launch = plugin_launch(workspace_, operands.config.device),
                   .x = plugin_tensor(operands.x),
                   .w = plugin_tensor(operands.w),
                   .x_scale = plugin_tensor(operands.x_scale),
                   .w_scale = plugin_tensor(operands.w_scale),
                   .y = plugin_tensor(operands.y)} {}

  void launch() override { require_no_error(functions_.launch(&problem_, &arguments_), impl_, "launch"); }

 private:
  const tbench_gemm& functions_;
  std::string impl_;
  tbench_gemm_problem problem_;
  at::Tensor workspace_;
  tbench_gemm_arguments arguments_;
};

std::optional<std::string> gemm_refusal(const GemmConfig& config) {
  const tbench_gemm& functions = gemm_functions(config);
  const tbench_gemm_problem problem = gemm_problem(config);
  return functions.unsupported == nullptr ? std::nullopt : plugin_reason(functions.unsupported(&problem));
}

std::vector<std::string> joined_gemm(const tbench_plugin_description& library) {
  if (library.gemm == nullptr) return {};
  if (library.gemm->launch == nullptr) throw UsageError{"its gemm has no launch(): set it"};
  return {std::string{kGemmPart}};
}

void add_gemm(const std::string& name, std::string_view /*part*/) {
  gemm_impls().add({.name = name,
                    .unsupported_reason = &gemm_refusal,
                    .make = [](const GemmOperands& operands) -> std::unique_ptr<GemmProduct> {
                      return std::make_unique<PluginGemm>(operands);
                    },
                    .is_watched = true});
}

}  // namespace

PluginFamily gemm_plugin_family() {
  return {.joined = &joined_gemm,
          .impl_names = &gemm_impl_names,
          .owns = [](std::string_view part) { return part == kGemmPart; },
          .add = &add_gemm,
          .add_package = [](const std::string& name,
                            std::string_view /*part*/) { gemm_impls().add(package_gemm_impl(name)); }};
}

}  // namespace tbench::model
