#include "tbench/cuda/matmul_autotune.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>
#include <vector>

#include "tbench/cuda/error.hpp"
#include "tbench/cuda/flush_and_spin.hpp"
#include "tbench/cuda/handle.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::cuda {
namespace {

constexpr Seconds kSampleTime{100e-6};
constexpr int kMaxLaunches = 50;
/// The spin time per launch. Enqueuing a launch takes the host 2 to 4 us, and the spin has to outlast all launches of a
/// sample.
constexpr Seconds kEnqueueTime{5e-6};
/// The amount of work without rests after which the clock may have dropped; it takes kClockRise to recover (measured on
/// an H200).
constexpr Seconds kLongRound{20e-3};
constexpr Seconds kClockRise{0.2};
/// The longest pause. Candidates are compared only with each other, under the same conditions, and longer pauses would
/// cost seconds for a large product.
constexpr Seconds kLongestPause{5e-3};
/// Times within this factor count as equal, because there are only a few samples.
constexpr double kEqualWithin = 1.01;
/// The limit for dropping candidates of cold launches, whose times vary more.
constexpr double kNarrowWithin = 1.03;

struct Candidate {
  std::size_t index{};
  std::vector<double> times;  // seconds

  [[nodiscard]] double median() const { return stats::median(times); }
};

std::size_t element_bytes(cudaDataType_t type) {
  if (type == CUDA_R_32F) return 4;
  return type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : 1;
}

std::size_t bytes_of_x(const MatmulProblem& problem) {
  const std::int64_t rows = problem.x_transposed ? problem.k : problem.m;
  const std::int64_t columns = problem.x_transposed ? problem.m : problem.k;
  return static_cast<std::size_t>((rows - 1) * problem.x_row_stride + columns) * element_bytes(problem.input_type);
}

/// Times launches of the algorithms of one product.
class LaunchTimer {
 public:
  LaunchTimer(const Matmul& matmul, const MatmulOperands& operands, cudaStream_t stream, ProductOperands met)
      : matmul_{matmul}, operands_{operands}, stream_{stream}, begin_{make_timing_event()}, end_{make_timing_event()} {
    if (met == ProductOperands::kWeightCold) flush_.emplace();
  }

  /// Returns the seconds per launch, averaged over `count` launches.
  [[nodiscard]] double time(const MatmulAlgorithm& algorithm, int count) const {
    if (!flush_) return time_chain(algorithm, count) / count;
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += time_chain(algorithm, 1);
    return sum / count;
  }

 private:
  [[nodiscard]] double time_chain(const MatmulAlgorithm& algorithm, int count) const {
    launch_spin(kEnqueueTime * (count + 2), stream_);
    if (flush_) {
      flush_->enqueue(stream_);
      flush_->read(operands_.x, bytes_of_x(matmul_.problem()), stream_);
    }
    TBENCH_CUDA_CHECK(cudaEventRecord(begin_.get(), stream_));
    for (int i = 0; i < count; ++i) matmul_.launch(algorithm, operands_, stream_);
    TBENCH_CUDA_CHECK(cudaEventRecord(end_.get(), stream_));
    TBENCH_CUDA_CHECK(cudaEventSynchronize(end_.get()));
    float milliseconds{};
    TBENCH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return static_cast<double>(milliseconds) * 1e-3;
  }

  const Matmul& matmul_;
  MatmulOperands operands_;
  cudaStream_t stream_;
  Event begin_, end_;
  std::optional<L2Flush> flush_;
};

/// Keeps the candidates within a factor of the best.
void drop_slower(std::vector<Candidate>& candidates, double factor) {
  const double best = std::ranges::min(candidates, {}, &Candidate::median).median();
  std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.median() > factor * best; });
}

int launches_for(double launch_s) {
  const double wanted = std::ceil(kSampleTime.value / std::max(launch_s, 1e-9));
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(kMaxLaunches)));
}

}  // namespace

void AutotunePauses::pause() {
  const Seconds duration = is_first_ && busy_ >= kLongRound ? kClockRise : std::min(rest_after(busy_), kLongestPause);
  std::this_thread::sleep_for(std::chrono::duration<double>(duration.value));
  is_first_ = false;
  busy_ = {};
}

std::optional<AutotuneResult> find_fastest(std::size_t candidates, const CandidateTimer& time,
                                           const AutotuneRules& rules) {
  std::vector<Candidate> alive(candidates);
  for (std::size_t i = 0; i < candidates; ++i) alive[i].index = i;
  Seconds spent{};
  std::size_t timed = 0;
  for (std::size_t round = 0; round < rules.rounds; ++round) {
    if (round > 0) std::ranges::reverse(alive);
    for (Candidate& candidate : alive) {
      if (spent >= rules.budget) break;
      const std::optional<CandidateTime> taken = time(candidate.index);
      if (!taken) continue;
      spent = spent + taken->spent;
      candidate.times.push_back(taken->launch.value);
    }
    std::erase_if(alive, [](const Candidate& candidate) { return candidate.times.empty(); });
    if (alive.empty()) return std::nullopt;
    if (round == 0) timed = alive.size();
    const bool is_early = 2 * (round + 1) < rules.rounds;
    drop_slower(alive, is_early ? rules.keep_within : rules.narrow_within.value_or(rules.keep_within));
    if (alive.size() == 1 || spent >= rules.budget) break;
  }
  drop_slower(alive, rules.equal_within);
  return AutotuneResult{.fastest = std::ranges::min(alive, {}, &Candidate::index).index, .timed = timed};
}

std::optional<AutotuneResult> fastest_algorithm(const Matmul& matmul, std::span<const MatmulAlgorithm> algorithms,
                                                const MatmulOperands& operands, cudaStream_t stream,
                                                ProductOperands met) {
  const LaunchTimer timer{matmul, operands, stream, met};
  std::vector<int> launches(algorithms.size(), 0);  // launches per sample; 0 if the kernel is not loaded yet
  AutotunePauses pauses;
  const auto time = [&](std::size_t i) -> std::optional<CandidateTime> {
    const auto begin = std::chrono::steady_clock::now();
    if (launches[i] == 0) {
      try {
        static_cast<void>(timer.time(algorithms[i], 1));
      } catch (const CublasError&) {
        return std::nullopt;
      }
      launches[i] = launches_for(timer.time(algorithms[i], 1));
    } else {
      pauses.pause();
    }
    const Seconds launch{timer.time(algorithms[i], launches[i])};
    pauses.add_work(launch * launches[i]);
    return CandidateTime{launch,
                         Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()}};
  };
  AutotuneRules rules{.equal_within = kEqualWithin};
  if (met == ProductOperands::kWeightCold) {
    rules.rounds *= 2;
    rules.narrow_within = kNarrowWithin;
  }
  return find_fastest(algorithms.size(), time, rules);
}

}  // namespace tbench::cuda
