#include "tbench/model/overlap_case.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "model/collective/exact_numbers.hpp"
#include "model/operations/gemm/implementation.hpp"
#include "model/operations/gemm/verify.hpp"
#include "model/torch/compare.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kElementBytes = 4;
/// The bytes of the exchange for every two products: on an H100, two products take twice as long as the exchange of
/// these bytes.
constexpr std::int64_t kBytesOfTwoProducts = std::int64_t{25} << 20;

GemmConfig product_of(const OverlapConfig& config) {
  constexpr std::int64_t kTokens = 2048, kModel = 2048, kFeedForward = 8192, kOnACpu = 64;
  const bool is_cpu = config.device == DeviceKind::kCpu;
  return {.m = is_cpu ? kOnACpu : kTokens,
          .n = is_cpu ? kOnACpu : kFeedForward,
          .k = is_cpu ? kOnACpu : kModel,
          .precision = parse_gemm_precision(to_string(config.precision)).value(),
          .impl = "aten",
          .device = config.device,
          .seed = config.seed};
}

class OverlapCase final : public TorchCase {
 public:
  OverlapCase(const OverlapConfig& config, ranks::Group& group)
      : TorchCase{config.device}, config_{config}, group_{group}, elements_{config.bytes / kElementBytes} {}

  [[nodiscard]] std::optional<std::string> unsupported_reason() const override {
    if (auto reason = device_unsupported_reason(config_.device, config_.precision)) return reason;
    if (elements_ <= 0) return fmt::format("{} bytes are less than an element of float32", config_.bytes);
    if (numbers().largest > 0) return std::nullopt;
    return fmt::format("{} ranks: sums of float32 are exact up to {}, so that they can be verified", group_.size(),
                       kExactFp32);
  }
  [[nodiscard]] std::int64_t min_bytes() const override { return elements_ * kElementBytes; }
  [[nodiscard]] std::span<const std::string_view> phases() const override {
    static constexpr std::array<std::string_view, 3> kPhases{"products", "exchange", "both"};
    return kPhases;
  }
  /// Returns no work: a rate over three different phases would be meaningless.
  [[nodiscard]] Work work() const override { return {}; }
  [[nodiscard]] std::map<std::string, double> counters() override {
    return {{"products", static_cast<double>(products())}};
  }
  [[nodiscard]] std::map<std::string, std::string> labels() override { return {{"backend", group_.backend()}}; }

 private:
  void do_build() override {
    product_.reset();
    operands_ = make_gemm_operands(product_of(config_));
    product_ = gemm_impls().at(operands_.config.impl).make(operands_);
    if (product_->makes_y()) operands_.y.reset();
    exchanged_ = at::empty({elements_}, numbers().options);
    fill(config_.seed);
  }
  Verification do_verify() override { return verify_step(config_.seed); }
  std::optional<Verification> do_verify_again() override { return verify_step(config_.seed + 1); }
  void do_launch(PhaseMarker& marker) override { step(&marker); }

  [[nodiscard]] std::int64_t products() const {
    constexpr std::int64_t kAtLeast = 2;
    return std::max(kAtLeast, 2 * config_.bytes / kBytesOfTwoProducts);
  }
  [[nodiscard]] ExactNumbers numbers() const {
    const std::int64_t ranks = group_.size();
    return {.options = at::TensorOptions{}.device(torch_device(config_.device)).dtype(at::kFloat),
            .largest = std::min(kLargestInput, kExactFp32 / (ranks * ranks))};
  }
  void fill(std::uint64_t seed) { exchanged_.copy_(exact_numbers(numbers(), group_.rank(), seed, 0, elements_)); }

  void launch_products() {
    for (std::int64_t i = 0; i < products(); ++i) built(product_).launch();
  }

  void step(PhaseMarker* marker) {
    launch_products();
    mark_phase(marker);
    group_.all_reduce(exchanged_);
    mark_phase(marker);
    ranks::Pending exchange = group_.start_all_reduce(exchanged_);
    launch_products();
    exchange.wait();
    mark_phase(marker);
  }

  /// Verifies a step on new numbers: its two exchanges leave the ranks' sum times the number of ranks.
  Verification verify_step(std::uint64_t seed) {
    fill(seed);
    fill_gemm_operands(operands_, seed);
    if (operands_.y.defined()) operands_.y.fill_(std::numeric_limits<double>::quiet_NaN());
    step(nullptr);
    GemmOperands launched = operands_;
    if (built(product_).makes_y()) launched.y = product_->take_y();
    Verification product = verify_gemm(launched).verification;
    at::Tensor expected = at::zeros({elements_}, exchanged_.options());
    for (int rank = 0; rank < group_.size(); ++rank) {
      expected.add_(exact_numbers(numbers(), rank, seed, 0, elements_), at::Scalar{group_.size()});
    }
    Verification sums =
        verify_equal("sums of sums", exchanged_, expected, "what each rank brings, computed here: exact");
    return worse_of(std::move(sums), std::move(product));
  }

  OverlapConfig config_;
  ranks::Group& group_;
  std::int64_t elements_;
  GemmOperands operands_;
  std::unique_ptr<GemmProduct> product_;
  at::Tensor exchanged_;
};

}  // namespace

std::unique_ptr<Case> make_overlap_case(const OverlapConfig& config, ranks::Group& group) {
  return std::make_unique<OverlapCase>(config, group);
}

}  // namespace tbench::model
