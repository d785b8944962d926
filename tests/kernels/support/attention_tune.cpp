// Times only the attention kernels over a grid given on the command line, to see the effect of a change quickly.
// Published numbers come from transformer_bench.
//
// A sample is one pair of events around launches that fill 50 us. A spinning kernel delays them until all are enqueued.
// Every launch uses the next of several sets of tensors, which together exceed twice the L2 cache.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/attention/plan.hpp"
#include "support/attention_run.hpp"
#include "support/device_tensor.hpp"
#include "tbench/cuda/device.hpp"
#include "tbench/cuda/flush_and_spin.hpp"
#include "tbench/cuda/handle.hpp"

namespace tbench::kernels {
namespace {

constexpr const char* kSelected = "selected";

/// Configs of the sm90 forward kernel that a run may force.
const std::map<std::string, sm90::FwdConfigId> kForwardConfigs{
    {"FwdM128N128", sm90::FwdConfigId::kM128N128},   {"FwdM192N128", sm90::FwdConfigId::kM192N128},
    {"FwdM192N64", sm90::FwdConfigId::kM192N64},     {"FwdM192N64Wide", sm90::FwdConfigId::kM192N64Wide},
    {"FwdM256N64", sm90::FwdConfigId::kM256N64},     {"FwdM128N64", sm90::FwdConfigId::kM128N64},
    {"FwdM128N64x2", sm90::FwdConfigId::kM128N64x2}, {"FwdM64N128x2", sm90::FwdConfigId::kM64N128x2}};

struct Lists {
  std::vector<std::string> precision{"bf16"};
  std::vector<std::int64_t> head_dim{64, 128};
  std::vector<std::int64_t> seq{1024, 4096};
  std::vector<std::int64_t> batch{1};
  std::vector<std::int64_t> heads{16};
  std::vector<std::int64_t> kv_heads{0};
  std::vector<bool> causal{false, true};
  std::vector<bool> deterministic{false};
  std::vector<std::string> pass{"forward", "backward"};
  std::vector<std::string> config{kSelected};
  std::vector<int> parts{0};
  int samples{30};
};

struct Cell {
  AttentionProblem problem;
  std::string pass;
  std::string config;  // of the sm90 forward kernel, or kSelected
  int parts;           // of a group in the sm90 backward kernels; 0: as selected
};

/// Returns the selected plan, or the plan with another config of the sm90 forward kernel or another number of parts.
AttentionPlan planned(AttentionPlan plan, const Cell& cell) {
  AttentionPlan::State state = plan.state();
  if (auto* const forward = std::get_if<FwdPlan>(&state.pass); forward != nullptr && cell.config != kSelected) {
    *forward = sm90::FwdPlan{
        .tiles = kForwardConfigs.at(cell.config), .in_turns = cell.problem.shape.causal, .overlaps = true};
  }
  if (auto* const backward = std::get_if<BwdPlan>(&state.pass); backward != nullptr && cell.parts > 0) {
    if (auto* const of_sm90 = std::get_if<sm90::BwdPlan>(backward)) {
      of_sm90->parts = cell.parts;
      state.workspace_bytes = sm90::backward_workspace(state.problem.shape, *of_sm90).bytes();
    }
  }
  return AttentionPlan{std::make_shared<const AttentionPlan::State>(std::move(state))};
}

constexpr double kSampleSeconds = 50e-6;
constexpr double kWarmUpSeconds = 0.1;
constexpr double kSpinPerLaunch = 40e-6;  // longer than the host takes to enqueue both passes
constexpr int kMaxLaunches = 64;          // per sample

/// One set of contiguous tensors with inputs filled, and o and lse computed.
class TensorSet {
 public:
  TensorSet(const Cell& cell, std::uint64_t seed, cudaStream_t stream)
      : shape_{cell.problem.shape},
        forward_plan_{planned(plan_attention_forward(contiguous(cell.problem), current_device_limits()), cell)},
        backward_plan_{planned(plan_attention_backward(contiguous(cell.problem), current_device_limits()), cell)},
        forward_workspace_{forward_plan_.workspace_bytes()},
        backward_workspace_{backward_plan_.workspace_bytes()} {
    const AttentionProblem& problem = cell.problem;
    const auto& shape = problem.shape;
    for (int i = 0; i < kTensors; ++i) {
      const std::int64_t rows = is_query_side(i) ? shape.heads * shape.seq_q : shape.key_heads() * shape.seq_kv;
      const std::int64_t elements = shape.batch * rows * shape.head_dim;
      const bool is_wide = problem.precision == Precision::kFp32 || problem.precision == Precision::kTf32;
      tensors_.emplace_back(static_cast<std::size_t>(elements * (is_wide ? 4 : 2)));
      if (i <= kGradO)
        fill_normal(tensors_.back().data(), elements, problem.precision, seed + static_cast<std::uint64_t>(i), stream);
    }
    tensors_.emplace_back(static_cast<std::size_t>(shape.batch * shape.heads * shape.seq_q * 4));
    forward(stream);
  }

  void forward(cudaStream_t stream) const {
    attention_forward(forward_plan_,
                      {.q = view(kQ),
                       .k = view(kK),
                       .v = view(kV),
                       .o = view(kO),
                       .lse = lse(),
                       .workspace = forward_workspace_.data()},
                      stream);
  }
  void backward(cudaStream_t stream) const {
    attention_backward(backward_plan_,
                       {.q = view(kQ),
                        .k = view(kK),
                        .v = view(kV),
                        .o = view(kO),
                        .lse = lse(),
                        .grad_o = view(kGradO),
                        .dq = view(kDq),
                        .dk = view(kDk),
                        .dv = view(kDv),
                        .workspace = backward_workspace_.data()},
                       stream);
  }
  /// Returns the bytes of the forward pass, which has fewer than the backward pass.
  [[nodiscard]] std::size_t forward_bytes() const {
    return tensors_[kQ].size() + tensors_[kK].size() + tensors_[kV].size() + tensors_[kO].size();
  }

 private:
  enum Tensor { kQ, kK, kV, kGradO, kO, kDq, kDk, kDv, kTensors };
  [[nodiscard]] static bool is_query_side(int tensor) {
    return tensor == kQ || tensor == kGradO || tensor == kO || tensor == kDq;
  }
  [[nodiscard]] TensorView view(Tensor tensor) const {
    const TensorLayout layout = is_query_side(tensor) ? contiguous_layout(shape_).q : contiguous_layout(shape_).k;
    return {.data = tensors_[tensor].data(), .strides = layout.strides};
  }
  [[nodiscard]] float* lse() const { return reinterpret_cast<float*>(tensors_[kTensors].data()); }

  [[nodiscard]] static AttentionProblem contiguous(AttentionProblem problem) {
    problem.layout = contiguous_layout(problem.shape);
    return problem;
  }

  AttentionShape shape_;
  AttentionPlan forward_plan_, backward_plan_;
  DeviceBytes forward_workspace_, backward_workspace_;
  std::vector<DeviceBytes> tensors_;
};

/// Sets of tensors, each of which has left the L2 cache when it is used again, and the launches of one pass on them.
class Launcher {
 public:
  Launcher(const Cell& cell, cudaStream_t stream) : stream_{stream}, pass_{cell.pass} {
    constexpr std::size_t kMaxSets = 64;
    sets_.emplace_back(cell, 1, stream);
    int device{};
    int l2_bytes{};
    TBENCH_CUDA_CHECK(cudaGetDevice(&device));
    TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
    const std::size_t sets = 2 * static_cast<std::size_t>(l2_bytes) / sets_.front().forward_bytes() + 2;
    for (std::size_t i = 1; i < std::min(sets, kMaxSets); ++i) sets_.emplace_back(cell, 1 + 8 * i, stream);
  }

  /// Launches the pass once, on the next set.
  void operator()() {
    const TensorSet& set = sets_[next_++ % sets_.size()];
    if (pass_ != "backward") set.forward(stream_);
    if (pass_ != "forward") set.backward(stream_);
  }

  /// Returns the mean seconds per launch of `launches` launches.
  double sample(int launches) {
    cuda::launch_spin(Seconds{kSpinPerLaunch * (launches + 2)}, stream_);
    TBENCH_CUDA_CHECK(cudaEventRecord(begin_.get(), stream_));
    for (int i = 0; i < launches; ++i) (*this)();
    TBENCH_CUDA_CHECK(cudaEventRecord(end_.get(), stream_));
    TBENCH_CUDA_CHECK(cudaEventSynchronize(end_.get()));
    float milliseconds{};
    TBENCH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return static_cast<double>(milliseconds) * 1e-3 / launches;
  }

 private:
  cudaStream_t stream_;
  std::string pass_;
  std::vector<TensorSet> sets_;
  std::size_t next_{};
  cuda::Event begin_{cuda::make_timing_event()};
  cuda::Event end_{cuda::make_timing_event()};
};

/// Returns the sorted seconds per launch.
std::vector<double> measure_cell(const Cell& cell, int samples, cudaStream_t stream) {
  Launcher launcher{cell, stream};
  launcher.sample(1);
  const double once = launcher.sample(1);
  const int launches = std::clamp(static_cast<int>(std::ceil(kSampleSeconds / once)), 1, kMaxLaunches);
  for (double warm = 0; warm < kWarmUpSeconds;)
    warm += launcher.sample(launches) * launches + kSpinPerLaunch * launches;
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) seconds.push_back(launcher.sample(launches));
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

/// Returns the FLOP of the pass. The backward pass has 2.5 times the FLOP of the forward pass.
double flop(const Cell& cell) {
  const double forward = attention_forward_flop(cell.problem.shape).value;
  return forward * (cell.pass == "forward" ? 1.0 : cell.pass == "backward" ? 2.5 : 3.5);
}

void print_header() {
  fmt::print("{:<6} {:>8} {:>5} {:>7} {:>6} {:>6} {:>13} {:<16} {:<14} {:>5} {:>9} {:>9} {:>9} {:>8}\n", "prec",
             "head_dim", "batch", "heads", "seq", "causal", "deterministic", "pass", "config", "parts", "ms", "p10",
             "p90", "TFLOP/s");
}

void print_cell(const Cell& cell, const std::vector<double>& seconds) {
  const AttentionShape& shape = cell.problem.shape;
  const auto quantile = [&](double q) {
    return seconds[static_cast<std::size_t>(q * static_cast<double>(seconds.size() - 1))];
  };
  fmt::print("{:<6} {:>8} {:>5} {:>7} {:>6} {:>6} {:>13} {:<16} {:<14} {:>5} {:>9.4f} {:>9.4f} {:>9.4f} {:>8.1f}\n",
             to_string(cell.problem.precision), shape.head_dim, shape.batch,
             fmt::format("{}:{}", shape.heads, shape.key_heads()), shape.seq_q, int{shape.causal},
             int{cell.problem.deterministic}, cell.pass, cell.config, cell.parts, quantile(0.5) * 1e3,
             quantile(0.1) * 1e3, quantile(0.9) * 1e3, flop(cell) / quantile(0.5) * 1e-12);
  std::fflush(stdout);
}

/// Calls function(combination...) for every combination of the lists' values, the last list's values fastest.
template <class Function>
void for_each_combination(const Function& function) {
  function();
}
template <class Function, class T, class... Others>
void for_each_combination(const Function& function, const std::vector<T>& list, const Others&... others) {
  for (const auto& value : list) {
    for_each_combination([&](const auto&... values) { function(value, values...); }, others...);
  }
}

std::vector<Cell> cells_of(const Lists& grid) {
  std::vector<Cell> cells;
  for_each_combination(
      [&](const std::string& precision, std::int64_t head_dim, std::int64_t batch, std::int64_t heads,
          std::int64_t kv_heads, std::int64_t seq, bool causal, bool deterministic, const std::string& pass,
          const std::string& config, int parts) {
        AttentionProblem problem = attention_problem({.batch = batch,
                                                      .heads = heads,
                                                      .seq_q = seq,
                                                      .seq_kv = seq,
                                                      .head_dim = head_dim,
                                                      .causal = causal,
                                                      .kv_heads = kv_heads == heads ? 0 : kv_heads},
                                                     *parse_enum<Precision>(precision));
        problem.deterministic = deterministic;
        cells.push_back({problem, pass, config, parts});
      },
      grid.precision, grid.head_dim, grid.batch, grid.heads, grid.kv_heads, grid.seq, grid.causal, grid.deterministic,
      grid.pass, grid.config, grid.parts);
  return cells;
}

void run(const Lists& grid) {
  const cuda::Stream stream = cuda::make_non_blocking_stream();
  const DeviceLimits limits = current_device_limits();
  print_header();
  for (const Cell& cell : cells_of(grid)) {
    if (const auto reason = attention_unsupported_reason(cell.problem, limits)) {
      fmt::print("{} head_dim {}: {}\n", to_string(cell.problem.precision), cell.problem.shape.head_dim, *reason);
      continue;
    }
    print_cell(cell, measure_cell(cell, grid.samples, stream.get()));
  }
}

}  // namespace
}  // namespace tbench::kernels

int main(int argc, char** argv) {
  tbench::kernels::Lists grid;
  CLI::App app{"Times the attention kernels alone; every list makes a row of the grid"};
  const auto list = [&](const char* name, auto& values, const char* help) {
    return app.add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  list("--precision", grid.precision, "storage and products")->check(CLI::IsMember({"fp32", "tf32", "bf16", "fp16"}));
  list("--head-dim", grid.head_dim, "elements of a row");
  list("--seq", grid.seq, "queries, and as many keys")->check(CLI::PositiveNumber);
  list("--batch", grid.batch, "sequences")->check(CLI::PositiveNumber);
  list("--heads", grid.heads, "heads of q in each")->check(CLI::PositiveNumber);
  list("--kv-heads", grid.kv_heads, "heads of k and v; 0: as many as of q")->check(CLI::NonNegativeNumber);
  list("--causal", grid.causal, "0, 1");
  list("--deterministic", grid.deterministic, "0, 1: backward without atomic additions");
  list("--pass", grid.pass, "what is timed")->check(CLI::IsMember({"forward", "backward", "forward_backward"}));
  list("--config", grid.config, "config of the sm90 forward kernel, or 'selected'");
  list("--parts", grid.parts, "parts of a group of heads in the sm90 backward kernels; 0: as selected");
  app.add_option("--samples", grid.samples, "of a cell")->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (tbench::cuda::device_count() == 0) throw std::runtime_error{"no GPU on this machine"};
    tbench::kernels::run(grid);
  } catch (const std::exception& error) {
    fmt::print(stderr, "attention_tune: error: {}\n", error.what());
    return 1;
  }
  return 0;
}
