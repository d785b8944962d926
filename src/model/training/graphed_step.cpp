#include "model/training/graphed_step.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <utility>

#include "model/torch/scopes.hpp"
#include "tbench/core/error.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::model {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

/// Returns a view of the elements that does not share ownership of their memory.
at::Tensor view_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), tensor.options().requires_grad(false));
}

at::Tensor copy_of(const at::Tensor& tensor) { return tensor.defined() ? tensor.clone() : at::Tensor{}; }

/// Returns outputs of which each is the result of `make`.
StepOutputs outputs_by(at::Tensor (*make)(const at::Tensor&), const StepOutputs& of) {
  return {.logits = make(of.logits), .loss = make(of.loss), .losses = make(of.losses), .lse = make(of.lse)};
}

void fill_with_nan(const at::Tensor& tensor) {
  if (tensor.defined()) tensor.fill_(kNotANumber);
}

}  // namespace

/// One capture, phase by phase: at each of the trainer's marks, one graph ends and the next begins.
class GraphedStep::Capture final : public PhaseMarker {
 public:
  Capture(GraphedStep& owner, PhaseMarker* phases)
      : owner_{owner}, phases_{phases}, pool_{at::cuda::graph_pool_handle()}, on_stream_{owner.stream_} {}

  void run() {
    try {
      begin();
      owner_.trainer_.step(this, &outputs_);
    } catch (const c10::OutOfMemoryError&) {
      abandon();
      throw;
    } catch (const std::exception& error) {
      abandon();
      const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
      throw Unsupported{fmt::format("exec:graph: the step cannot be captured as a CUDA graph: {}",
                                    of_torch == nullptr ? error.what() : of_torch->what_without_backtrace())};
    }
  }

  void mark() override {
    if (owner_.graphs_.size() == 1) {
      owner_.outputs_ = outputs_by(&view_of, outputs_);
      outputs_ = {};
    }
    is_open_ = false;
    owner_.graphs_.back()->capture_end();
    mark_phase(phases_);
    if (owner_.graphs_.size() <= static_cast<std::size_t>(owner_.trainer_.config().pass)) begin();
  }

 private:
  void begin() {
    owner_.graphs_.push_back(std::make_unique<at::cuda::CUDAGraph>());
    owner_.graphs_.back()->capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
    is_open_ = true;
  }

  /// Ends a failed capture and frees its memory, which CUDAGraph does not do.
  void abandon() noexcept {
    outputs_ = {};
    if (is_open_) {
      cudaGraph_t graph{};
      static_cast<void>(cudaStreamEndCapture(owner_.stream_.stream(), &graph));
      if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    }
    static_cast<void>(cudaGetLastError());
    try {
      if (is_open_) {
        allocator::endAllocateToPool(owner_.stream_.device_index(), pool_);
        allocator::releasePool(owner_.stream_.device_index(), pool_);
      }
      owner_.discard();
    } catch (const std::exception&) {  // only the reason why the capture failed is reported
    }
  }

  GraphedStep& owner_;
  PhaseMarker* phases_;
  at::cuda::MempoolId_t pool_;
  c10::cuda::CUDAStreamGuard on_stream_;
  StepOutputs outputs_;
  bool is_open_{};
};

void GraphedStep::capture(PhaseMarker* phases) {
  discard();
  c10::cuda::device_synchronize();
  const auto begin = std::chrono::steady_clock::now();
  // cuBLAS's workspace must be allocated from the graphs' memory.
  at::cuda::clearCublasWorkspaces();
  Capture{*this, phases}.run();
  capture_time_ = Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  for (const at::Tensor& leaf : trainer_.parameters().leaves()) gradients_.push_back(leaf.grad());
}

void GraphedStep::replay(std::size_t phase) const {
  TBENCH_CUDA_CHECK(cudaGraphLaunch(graphs_[phase]->raw_cuda_graph_exec(), c10::cuda::getCurrentCUDAStream().stream()));
}

void GraphedStep::launch(PhaseMarker* phases) {
  if (graphs_.empty()) {
    capture(phases);
    phases = nullptr;
  }
  for (std::size_t phase = 0; phase < graphs_.size(); ++phase) {
    replay(phase);
    mark_phase(phases);
  }
}

void GraphedStep::run(StepOutputs& outputs) {
  if (graphs_.empty()) capture(nullptr);
  poison();
  replay(0);
  outputs = outputs_by(&copy_of, outputs_);
  for (std::size_t phase = 1; phase < graphs_.size(); ++phase) replay(phase);
  show_gradients();
}

void GraphedStep::poison() const {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& output : {outputs_.logits, outputs_.loss, outputs_.losses, outputs_.lse}) {
    fill_with_nan(output);
  }
  for (const at::Tensor& gradient : gradients_) fill_with_nan(gradient);
}

void GraphedStep::show_gradients() const {
  const std::vector<at::Tensor>& leaves = trainer_.parameters().leaves();
  for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i].mutable_grad() = gradients_[i];
}

void GraphedStep::discard() {
  if (graphs_.empty()) return;
  c10::cuda::device_synchronize();
  outputs_ = {};
  gradients_.clear();
  trainer_.parameters().clear_gradients();
  graphs_.clear();
}

}  // namespace tbench::model
