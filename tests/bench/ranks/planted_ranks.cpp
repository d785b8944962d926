#include "planted_ranks.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

constexpr std::array<std::string_view, 1> kPhases{"step"};
constexpr int kFaultyStep = 5;

class PlantedRanks final : public Case {
 public:
  PlantedRanks(const CaseId& id, ranks::Group& group)
      : fault_{id.int_at("on") == group.rank() ? id.at("fault") : "none"}, group_{group} {}

  std::optional<std::string> unsupported_reason() const override { return std::nullopt; }
  void build() override {
    if (fault_ == "oom") throw OutOfMemory{"planted: tried to allocate 1 TiB", std::int64_t{1} << 40};
  }
  Verification verify() override { return verdict(fault_ != "incorrect"); }
  /// Checks that all ranks have made the same number of steps.
  std::optional<Verification> verify_again() override {
    const std::array own{static_cast<double>(steps_)};
    const std::vector<std::vector<double>> all = group_.gather(own);
    for (const std::vector<double>& other : all) {
      if (other.at(0) != own[0]) return verdict(false);
    }
    return verdict(fault_ != "incorrect_later");
  }
  std::span<const std::string_view> phases() const override { return kPhases; }
  void launch(PhaseMarker& marker) override {
    if (++steps_ == kFaultyStep) fail();
    const int varying = steps_ * 7919 % 3 * group_.rank();
    std::this_thread::sleep_for(std::chrono::milliseconds{1 + group_.rank() + varying});
    static_cast<void>(group_.gather(std::array{static_cast<double>(steps_)}));
    marker.mark();
  }
  Work work() const override { return {.flop = {1e6}, .tokens = 10}; }
  std::map<std::string, double> counters() override { return {{"steps", steps_}}; }

 private:
  void fail() const {
    if (fault_ == "kill") std::raise(SIGKILL);
    if (fault_ == "hang") std::this_thread::sleep_for(std::chrono::hours{1});
    if (fault_ == "throw") throw std::runtime_error{"planted exception"};
  }
  static Verification verdict(bool right) {
    return {.passed = right,
            .reference = "planted",
            .worst_error = right ? 0.5 : 7.0,
            .worst_where = "output[3]",
            .message = right ? "" : "output[3] is 2, the reference says 1"};
  }

  std::string fault_;
  ranks::Group& group_;
  int steps_{};
};

}  // namespace

Family planted_ranks_family() {
  const std::vector<std::string> faults{"none", "kill", "hang", "throw", "oom", "incorrect", "incorrect_later"};
  return {.spec = {.name = "PlantedRanks",
                   .keys = {{"fault", faults}, {"on", {"0", "1"}}, {"gpus", {}}},
                   .tables = {{"all", Suite::kSmoke, true, {{"fault", faults}, {"on", {"1"}}, {"gpus", {}}}}},
                   .invalid_reason = {}},
          .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
            return std::make_unique<PlantedRanks>(id, *context.group);
          },
          .precision = {},
          .spans_ranks = true};
}

}  // namespace tbench::bench
