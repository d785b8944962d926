#include "model/compiled/compiled_passes.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "model/compiled/packages.hpp"
#include "model/layers/layers.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::model {
namespace {

/// The origin of an input of the backward graph.
struct Source {
  enum class Kind { kInput, kOutput, kGradient } kind{};  // input or output of the forward graph; gradient of the loss
  std::size_t index{};
};

/// Parses the origins of the backward graph's inputs, as divided() in tools/compile_model.py writes them.
/// @param text  words separated by blanks: `i3` is input 3 and `o2` output 2 of the forward graph, `gradient` is the
///              gradient of the loss
/// @param path  the package, for the error message
/// @throws      Unsupported  for any other word
std::vector<Source> parse_sources(const std::string& text, const std::string& path) {
  std::vector<Source> sources;
  std::istringstream words{text};
  for (std::string word; words >> word;) {
    if (word == "gradient") {
      sources.push_back({Source::Kind::kGradient, 0});
      continue;
    }
    const std::optional<std::int64_t> index = parse_integer(std::string_view{word}.substr(1));
    if (!index || *index < 0 || (word[0] != 'i' && word[0] != 'o')) {
      throw Unsupported{
          fmt::format("the package '{}' has '{}' among its inputs; delete it and compile it again", path, word)};
    }
    sources.push_back(
        {word[0] == 'i' ? Source::Kind::kInput : Source::Kind::kOutput, static_cast<std::size_t>(*index)});
  }
  return sources;
}

/// Returns a gradient in the layout in which autograd passes it to its leaf; copies it if its layout differs.
at::Tensor laid_out_as(const at::Tensor& leaf, at::Tensor gradient) {
  return gradient.strides() == leaf.strides() ? std::move(gradient) : gradient.contiguous();
}

class CompiledPasses final : public ModelPasses {
 public:
  explicit CompiledPasses(const PassesInputs& inputs) : leaves_{inputs.parameters.leaves()} {
    const ModelConfig& config = inputs.config;
    if (config.pass == Pass::kForward) {
      forward_ = load_model_package(config, ModelGraph::kForward).graph;
    } else {
      load_training(config);
    }
    for (const at::Tensor& leaf : leaves_) weights_.push_back(leaf.detach());
    const RopeTable table =
        make_rope_table(config.context, config.size.head_dim(), weights_.front().options(), config.size.rope_theta);
    for (const at::Tensor& part : {table.cos, table.sin}) rope_.push_back(part.unsqueeze(1).contiguous());
    gradient_of_loss_ =
        inputs.loss_scale.defined() ? inputs.loss_scale : at::ones({}, weights_.front().options().dtype(at::kFloat));
  }

  at::Tensor logits(const at::Tensor& tokens) override { return run(*forward_, with_rope({tokens}))[0]; }

  StepOutputs loss(const at::Tensor& tokens, const at::Tensor& targets) override {
    saved_.clear();
    for (const at::Tensor& leaf : leaves_) leaf.mutable_grad().reset();
    const std::vector<at::Tensor> inputs = with_rope({tokens, targets});
    const std::vector<at::Tensor> outputs = run(*training_, inputs);
    for (const Source& source : sources_) {
      if (source.kind == Source::Kind::kGradient) saved_.push_back(gradient_of_loss_);
      if (source.kind == Source::Kind::kInput) saved_.push_back(inputs.at(source.index));
      if (source.kind == Source::Kind::kOutput) saved_.push_back(outputs.at(source.index));
    }
    return {.logits = outputs.at(1), .loss = outputs.at(0)};
  }

  void backward(const UpdateHook& /*update*/) override {
    std::vector<at::Tensor> gradients = run(*backward_, std::exchange(saved_, {}));
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      leaves_[i].mutable_grad() = laid_out_as(leaves_[i], std::move(gradients.at(i)));
    }
  }

  void parameters_changed() override {}
  [[nodiscard]] const std::vector<at::Tensor>& copies() const override { return no_copies_; }
  [[nodiscard]] std::optional<HeldBytes> held_bytes() const override { return std::nullopt; }

 private:
  void load_training(const ModelConfig& config) {
    ModelPackage training = load_model_package(config, ModelGraph::kTraining);
    ModelPackage backward = load_model_package(config, ModelGraph::kBackward);
    const std::string path = model_package_path(config, ModelGraph::kBackward);
    if (training.metadata["tbench_pair"] != backward.metadata["tbench_pair"]) {
      throw Unsupported{
          fmt::format("the package '{}' is of another forward graph than the one beside it; delete both and "
                      "compile them again",
                      path)};
    }
    sources_ = parse_sources(backward.metadata["tbench_inputs"], path);
    training_ = std::move(training.graph);
    backward_ = std::move(backward.graph);
  }

  /// Returns the inputs of a forward graph: the weights, `ids`, and RoPE's tables.
  [[nodiscard]] std::vector<at::Tensor> with_rope(std::initializer_list<at::Tensor> ids) const {
    std::vector<at::Tensor> inputs = weights_;
    inputs.insert(inputs.end(), ids);
    inputs.insert(inputs.end(), rope_.begin(), rope_.end());
    return inputs;
  }

  /// Runs a graph, which releases each input after its last use unless something else holds it.
  static std::vector<at::Tensor> run(CompiledGraph& graph, std::vector<at::Tensor> inputs) {
    const at::NoGradGuard no_grad;
    return graph.boxed_run(std::move(inputs));
  }

  std::unique_ptr<CompiledGraph> forward_, training_, backward_;  // null if the pass does not need the graph
  std::vector<Source> sources_;                                   // one per input of backward_
  std::vector<at::Tensor> leaves_;
  std::vector<at::Tensor> weights_;  // the leaves without autograd
  std::vector<at::Tensor> rope_;     // cos and sin, [context, 1, head_dim / 2]
  at::Tensor gradient_of_loss_;      // scalar
  std::vector<at::Tensor> saved_;    // tensors saved between loss() and backward()
  std::vector<at::Tensor> no_copies_;
};

}  // namespace

std::unique_ptr<ModelPasses> make_compiled_passes(const PassesInputs& inputs) {
  return std::make_unique<CompiledPasses>(inputs);
}

}  // namespace tbench::model
