// The studies' transformer under autocast. A second model with the same weights has marked layers, so that an observer
// can assign each operation to its layer; the timed model has no marks.
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "model/layers/layers.hpp"
#include "model/operations/autocast/subjects.hpp"
#include "model/torch/dtype_observer.hpp"
#include "model/torch/scopes.hpp"
#include "model/training/model_impl.hpp"
#include "model/training/trainer.hpp"
#include "model/training/verify_trainer.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/work.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kAutocastContext = 16, kAutocastBatch = 1;

/// Returns the layers of `eager`, each marked with its name.
ModelImpl marked_eager_impl() {
  ModelImpl impl = model_impls().at("eager");
  impl.ops.embedding = [](const at::Tensor& weight, const at::Tensor& tokens) {
    const LayerMark mark{"embedding"};
    return eager_embedding(weight, tokens);
  };
  impl.ops.rms_norm = [](const at::Tensor& x, const at::Tensor& weight) {
    const LayerMark mark{"rms_norm"};
    return eager_rms_norm(x, weight);
  };
  impl.ops.attention = [](const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
    const LayerMark mark{"attention"};
    return eager_attention(x, weights, constants);
  };
  impl.ops.feed_forward = [](const at::Tensor& x, const FeedForwardWeights& weights) {
    const LayerMark mark{"feed_forward"};
    return eager_swiglu(x, weights);
  };
  impl.ops.cross_entropy = [](const at::Tensor& logits, const at::Tensor& targets) {
    const LayerMark mark{"cross_entropy"};
    return eager_cross_entropy(logits, targets);
  };
  return impl;
}

// The role of each operation of the eager layers (attention.cpp, swiglu.cpp, rms_norm.cpp, cross_entropy.cpp), in the
// order of the computation. The test of this file fails if one of them is no longer there.
constexpr std::array kTransformerRoles{
    OperationRole{"embedding", "aten::index", 1, "embedding"},
    OperationRole{"rms_norm", "aten::to", 2, "rmsnorm"},
    OperationRole{"attention", "aten::linear", 1, "q projection"},
    OperationRole{"attention", "aten::linear", 2, "k projection"},
    OperationRole{"attention", "aten::linear", 3, "v projection"},
    OperationRole{"attention", "aten::stack", 0, "rope"},
    OperationRole{"attention", "aten::matmul", 1, "scores"},
    OperationRole{"attention", "aten::where", 1, "masked scores"},
    OperationRole{"attention", "aten::exp", 1, "softmax exp"},
    OperationRole{"attention", "aten::sum", 1, "softmax sum"},
    OperationRole{"attention", "aten::div", 2, "softmax"},
    OperationRole{"attention", "aten::matmul", 2, "context"},
    OperationRole{"attention", "aten::linear", 4, "output projection"},
    OperationRole{"", "aten::add", 0, "residual"},
    OperationRole{"feed_forward", "aten::linear", 1, "swiglu gate"},
    OperationRole{"feed_forward", "aten::sigmoid", 1, "swiglu sigmoid"},
    OperationRole{"feed_forward", "aten::linear", 2, "swiglu up"},
    OperationRole{"feed_forward", "aten::mul", 2, "swiglu product"},
    OperationRole{"feed_forward", "aten::linear", 3, "swiglu down"},
    OperationRole{"", "aten::linear", 1, "logits"},
    OperationRole{"cross_entropy", "aten::exp", 1, "loss exp"},
    OperationRole{"cross_entropy", "aten::mean", 1, "loss"},
};

ModelConfig step_config(const AutocastConfig& config) {
  return {.size = *std::ranges::find(builtin_model_sizes(), "tiny", &ModelSize::name),
          .context = kAutocastContext,
          .batch = kAutocastBatch,
          .pass = Pass::kForwardBackward,
          .precision = config.precision,
          .impl = "eager",
          .device = config.device,
          .seed = config.seed};
}

class TransformerAutocast final : public OperationCase {
 public:
  explicit TransformerAutocast(const AutocastConfig& config)
      : OperationCase{config.device}, config_{config}, step_{step_config(config)}, impl_{model_impls().at("eager")} {}

  std::optional<std::string> unsupported_reason() const override { return autocast_unsupported_reason(config_); }
  std::int64_t min_bytes() const override { return model_min_bytes(step_.size, step_.pass); }
  Work work() const override { return model_step_work(step_.size, step_.context, step_.batch, step_.pass); }
  std::map<std::string, std::string> labels() override { return labels_; }

 private:
  void do_build() override {
    trainer_.reset();
    trainer_.emplace(step_, impl_);
  }
  void enqueue() override { built(trainer_).step(); }
  Verification do_verify() override {
    observe();
    return verify_trainer(built(trainer_));
  }

  void observe() {
    const ModelImpl marked = marked_eager_impl();
    Trainer trainer{step_, marked};
    const Tf32Scope no_tf32{Precision::kFp32};
    at::Tensor loss;
    {
      const DtypeObserver observer;
      loss = trainer.loss(trainer.tokens(), trainer.targets());
      labels_ = dtypes_by_role(observer.operations(), kTransformerRoles);
    }
    {
      const DtypeObserver observer;
      trainer.backward(loss);
      labels_.merge(dtypes_by_role(observer.operations(), kBackwardRoles));
    }
    labels_["parameters"] = dtypes_of_tensors(trainer.parameters().leaves());
    labels_["gradients"] = dtypes_of_gradients(trainer.parameters().leaves());
  }

  AutocastConfig config_;
  ModelConfig step_;
  ModelImpl impl_;
  std::optional<Trainer> trainer_;
  std::map<std::string, std::string> labels_;
};

}  // namespace

std::unique_ptr<Case> make_transformer_autocast(const AutocastConfig& config) {
  return std::make_unique<TransformerAutocast>(config);
}

}  // namespace tbench::model
