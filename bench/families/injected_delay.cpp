#include "bench/families/injected_delay.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>
#include <vector>

#include "tbench/stats/descriptive.hpp"

namespace tbench::bench {
namespace {

constexpr std::size_t kDiscardedSteps = 3;
constexpr std::size_t kTimedSteps = 7;

/// Forwards marks, with a delay before the mark that ends the last phase.
class DelayingMarker final : public PhaseMarker {
 public:
  DelayingMarker(PhaseMarker& marker, std::size_t phases, const std::function<void()>& delay)
      : marker_{marker}, phases_{phases}, delay_{delay} {}
  void mark() override {
    if (++marks_ == phases_) delay_();
    marker_.mark();
  }

 private:
  PhaseMarker& marker_;
  std::size_t phases_;
  const std::function<void()>& delay_;
  std::size_t marks_{};
};

class DelayedCase final : public Case {
 public:
  DelayedCase(std::unique_ptr<Case> subject, double share, Regime regime, measure::Timer& timer, Delay delay)
      : subject_{std::move(subject)}, share_{share}, regime_{regime}, timer_{timer}, delay_{std::move(delay)} {}

  std::optional<std::string> unsupported_reason() const override { return subject_->unsupported_reason(); }
  std::int64_t min_bytes() const override { return subject_->min_bytes(); }
  void build() override {
    subject_->build();
    duration_ = step_time() * share_;
  }
  Verification verify() override { return subject_->verify(); }
  std::optional<Verification> verify_again() override { return subject_->verify_again(); }
  LaunchChecker* launch_checker() override { return subject_->launch_checker(); }
  bool verifies_last() const override { return subject_->verifies_last(); }
  std::span<const std::string_view> phases() const override { return subject_->phases(); }
  void launch(PhaseMarker& marker) override {
    DelayingMarker delaying{marker, phases().size(), enqueue_delay_};
    subject_->launch(delaying);
  }
  bool discard_recording() override { return subject_->discard_recording(); }
  Work work() const override { return subject_->work(); }
  std::vector<LiveTensor> live_tensors() const override { return subject_->live_tensors(); }
  std::map<std::string, double> counters() override { return subject_->counters(); }
  std::map<std::string, double> build_counters() override { return subject_->build_counters(); }
  std::map<std::string, std::string> labels() override {
    std::map<std::string, std::string> labels = subject_->labels();
    labels["planted_delay"] = fmt::format("{}", share_);
    return labels;
  }

 private:
  /// Returns the median time of a few steps without the delay.
  [[nodiscard]] Seconds step_time() {
    const measure::Step step = [this](PhaseMarker& marker) { subject_->launch(marker); };
    const std::size_t count = kDiscardedSteps + kTimedSteps;
    measure::Chunk chunk;
    if (regime_ == Regime::kBurst) {
      timer_.begin_bursts({.phases = phases().size()});
      chunk = timer_.time_bursts(count, 1, step, {});
      timer_.end_bursts();
    } else {
      timer_.prepare(count, phases().size());
      chunk = timer_.time_steps(count, step, {});
    }
    std::vector<double> seconds;
    for (std::size_t i = kDiscardedSteps; i < count; ++i) seconds.push_back(chunk.step_seconds(i));
    return Seconds{stats::median(seconds)};
  }

  std::unique_ptr<Case> subject_;
  double share_;
  Regime regime_;
  measure::Timer& timer_;
  Delay delay_;
  Seconds duration_;
  std::function<void()> enqueue_delay_{[this] { delay_(duration_); }};
};

}  // namespace

std::optional<InjectedDelay> parse_injected_delay(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string::npos) return std::nullopt;
  InjectedDelay delay{.name = text.substr(0, colon)};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, delay.share);
  const bool is_share = error == std::errc{} && stop == end && delay.share > 0 && delay.share <= 1;
  return is_share ? std::optional{std::move(delay)} : std::nullopt;
}

std::unique_ptr<Case> with_delay(std::unique_ptr<Case> subject, double share, Regime regime, measure::Timer& timer,
                                 Delay delay) {
  return std::make_unique<DelayedCase>(std::move(subject), share, regime, timer, std::move(delay));
}

}  // namespace tbench::bench
