// Gemm implementations from packages.
#include <utility>

#include "model/plugins/package.hpp"
#include "model/plugins/plugin_family.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

PackageQuestion gemm_question(const GemmConfig& config) {
  return {.precision = std::string{to_string(config.precision)},
          .flags = {},
          .with_backward = false,
          .extents = {{"m", config.m}, {"n", config.n}, {"k", config.k}}};
}

PackageGraphs gemm_graphs(const GemmConfig& config) {
  const PackageQuestion question = gemm_question(config);
  return load_package_graphs(package_of(config.impl, config.device, question), question);
}

class PackageGemm final : public GemmProduct {
 public:
  explicit PackageGemm(const GemmOperands& operands)
      : graphs_{gemm_graphs(operands.config)},
        precision_{common_precision(operands.config.precision).value()},
        dtype_{operands.y.scalar_type()},
        inputs_{operands.x, operands.w} {}

  void launch() override {
    const Tf32Scope tf32{precision_};
    y_.reset();  // lets the allocator reuse its memory
    y_ = graphs_.forward.run(inputs_, {&dtype_, 1}).front();
  }
  [[nodiscard]] bool makes_y() const override { return true; }
  [[nodiscard]] at::Tensor take_y() override { return std::exchange(y_, {}); }

 private:
  PackageGraphs graphs_;
  Precision precision_;
  at::ScalarType dtype_;
  std::vector<at::Tensor> inputs_;
  at::Tensor y_;  // y of the last launch
};

}  // namespace

GemmImpl package_gemm_impl(const std::string& name) {
  return {.name = name,
          .unsupported_reason =
              [](const GemmConfig& config) {
                const PackageQuestion question = gemm_question(config);
                return package_refusal(package_of(config.impl, config.device, question), question);
              },
          .make = [](const GemmOperands& operands) -> std::unique_ptr<GemmProduct> {
            return std::make_unique<PackageGemm>(operands);
          },
          .is_watched = true};
}

}  // namespace tbench::model
