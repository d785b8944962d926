#include "operation_case.hpp"

#include <array>
#include <utility>

namespace tbench::bench {
namespace {

class OperationCase final : public measure::Case {
 public:
  OperationCase(std::unique_ptr<model::Operation> operation, Regime regime)
      : operation_{std::move(operation)}, regime_{regime} {}

  std::optional<std::string> unsupported_reason() const override { return operation_->unsupported_reason(); }
  std::int64_t least_bytes() const override { return operation_->least_bytes(); }
  Regime regime() const override { return regime_; }
  void build() override { operation_->build(); }
  Verification verify() override { return operation_->verify(); }
  std::span<const std::string_view> phases() const override {
    static constexpr std::array<std::string_view, 1> kPhases{"launch"};
    return kPhases;
  }
  void launch(measure::PhaseMarker& marker) override {
    operation_->launch();
    marker.mark();
  }
  Work work() const override { return operation_->work(); }
  std::map<std::string, std::int64_t> memory_split(std::int64_t) const override { return {}; }
  std::map<std::string, double> counters() override { return operation_->counters(); }
  std::map<std::string, std::string> findings() override { return operation_->findings(); }

 private:
  std::unique_ptr<model::Operation> operation_;
  Regime regime_;
};

}  // namespace

std::unique_ptr<measure::Case> make_operation_case(std::unique_ptr<model::Operation> operation, Regime regime) {
  return std::make_unique<OperationCase>(std::move(operation), regime);
}

}  // namespace tbench::bench
