#include "bench/ranks/agreed_tracer.hpp"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tbench::bench {
namespace {

class AgreedTracer final : public measure::StepTracer {
 public:
  AgreedTracer(std::unique_ptr<measure::StepTracer> own, measure::Gather gather)
      : own_{std::move(own)}, gather_{std::move(gather)} {}

  void start() override {
    std::exception_ptr problem;
    try {
      own_->start();
    } catch (const std::exception&) {
      problem = std::current_exception();
    }
    const std::array has_started{problem ? 0.0 : 1.0};
    const std::vector<std::vector<double>> all = gather_(has_started);
    if (problem) std::rethrow_exception(problem);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank].at(0) != 0) continue;
      own_->cancel();
      throw std::runtime_error{fmt::format("rank {} cannot be traced", rank)};
    }
  }
  [[nodiscard]] std::int64_t now_ns() const override { return own_->now_ns(); }
  [[nodiscard]] StepTrace stop(std::span<const EnqueuedStep> steps, std::span<const std::string_view> phases,
                               Regime regime) override {
    return own_->stop(steps, phases, regime);
  }
  [[nodiscard]] std::map<std::string, double> counters() const override { return own_->counters(); }
  void cancel() noexcept override { own_->cancel(); }

 private:
  std::unique_ptr<measure::StepTracer> own_;
  measure::Gather gather_;
};

}  // namespace

std::unique_ptr<measure::StepTracer> make_agreed_tracer(std::unique_ptr<measure::StepTracer> own,
                                                        measure::Gather gather) {
  return std::make_unique<AgreedTracer>(std::move(own), std::move(gather));
}

}  // namespace tbench::bench
