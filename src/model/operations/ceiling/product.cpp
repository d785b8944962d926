// Matrix products: the highest rate of a precision, measured with a product of the Gemm family. Autotuning selects the
// fastest of the family's implementations.
#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/operations/ceiling/parts.hpp"
#include "model/operations/gemm/implementation.hpp"
#include "model/operations/operation_case.hpp"

namespace tbench::model {
namespace {

constexpr std::string_view kProductPrefix = "gemm_";
/// Factor within which candidates count as equally fast. If the fastest always won, aten's algorithm and the autotuned
/// one would win at random within this factor, and the ceiling would vary with them. If the candidates were tried in
/// chains, as the ceiling is timed, the power limit would lower the clock before the ceiling is measured: the times of
/// three processes were then up to 4.8 % apart, but 1.4 % without chains (H100).
constexpr double kEqualWithin = 1.02;

GemmPrecision product_gemm_precision(std::string_view what) {
  return parse_gemm_precision(what.substr(kProductPrefix.size())).value();
}

/// Returns the product to measure. float32 products have a sixth of the rate of the next precision: halving n
/// and k saves a second of autotuning and sampling, and still leaves milliseconds per launch.
GemmConfig product_config(const CeilingConfig& config, std::string impl) {
  const CeilingSizes sizes = ceiling_sizes(config);
  const GemmPrecision precision = product_gemm_precision(config.what);
  const std::int64_t extent = precision == GemmPrecision::kFp32 ? sizes.product_nk / 2 : sizes.product_nk;
  return {.m = sizes.product_m,
          .n = extent,
          .k = extent,
          .precision = precision,
          .impl = std::move(impl),
          .device = config.device,
          .seed = config.seed};
}

class ProductCeiling final : public OperationCase {
 public:
  explicit ProductCeiling(CeilingConfig config) : OperationCase{config.device}, config_{std::move(config)} {}

  [[nodiscard]] std::optional<std::string> unsupported_reason() const override {
    // Without a GPU its shape is unknown, so the shape of a CPU's product takes its place.
    CeilingConfig asked = config_;
    if (cuda_device_count() == 0) asked.sizes = ceiling_sizes({.what = {}, .device = DeviceKind::kCpu});
    return make_gemm_operation(product_config(asked, "aten"))->unsupported_reason();
  }
  [[nodiscard]] std::int64_t min_bytes() const override { return aten()->min_bytes(); }
  [[nodiscard]] Work work() const override { return aten()->work(); }
  [[nodiscard]] std::map<std::string, double> counters() override { return chosen_->counters(); }
  [[nodiscard]] std::map<std::string, std::string> labels() override {
    std::map<std::string, std::string> labels = chosen_->labels();
    labels["implementation"] = impl_;
    return labels;
  }

 private:
  [[nodiscard]] std::unique_ptr<OperationCase> aten() const {
    return make_gemm_operation(product_config(config_, "aten"));
  }

  void do_build() override {
    std::map<std::string, std::unique_ptr<OperationCase>> gemms;
    std::vector<Candidate> candidates;
    for (const char* const impl : {"aten", "cublaslt_best"}) {
      std::unique_ptr<OperationCase> gemm = make_gemm_operation(product_config(config_, impl));
      if (gemm->unsupported_reason()) continue;
      gemm->build();
      candidates.push_back({impl, [&operation = *gemm] { operation.enqueue(); }});
      gemms[impl] = std::move(gemm);
    }
    impl_ = fastest_of(std::move(candidates), {.rests = true, .equal_within = kEqualWithin}).name;
    chosen_ = std::move(gemms.at(impl_));
  }
  Verification do_verify() override { return chosen_->verify(); }
  void enqueue() override { chosen_->enqueue(); }

  CeilingConfig config_;
  std::string impl_;
  std::unique_ptr<OperationCase> chosen_;
};

}  // namespace

std::optional<Precision> product_precision(std::string_view what) {
  return what.starts_with(kProductPrefix) ? common_precision(product_gemm_precision(what)) : std::nullopt;
}

std::unique_ptr<Case> make_product_ceiling(const CeilingConfig& config) {
  return std::make_unique<ProductCeiling>(config);
}

}  // namespace tbench::model
