// The eager mathematics on the parameters of a model in a higher precision. Weights are converted layer by layer and
// the backward pass recomputes each block, so that neither a second model nor a second set of gradients is ever held.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "tbench/model/attention.hpp"
#include "tbench/model/model_step.hpp"
#include "tbench/model/parameters.hpp"

namespace tbench::model {

class Reference {
 public:
  /// Takes parameter `index` (into Parameters::named()) and its gradient in the reference's dtype.
  using GradientVisitor = std::function<void(std::size_t index, const at::Tensor& gradient)>;

  /// @param parameters  outlive the reference; their own gradients are left alone
  Reference(const ModelStepConfig& config, const Parameters& parameters, at::ScalarType dtype);

  /// @param tokens  [rows, context]
  /// @return        logits [rows, context, vocab_size]
  [[nodiscard]] at::Tensor forward(const at::Tensor& tokens);
  /// After forward() of the same tokens: hands over every gradient of the loss once, from the LM head down.
  /// @return  the loss
  at::Tensor backward(const at::Tensor& targets, const GradientVisitor& visit);

 private:
  [[nodiscard]] at::Tensor converted(std::size_t index) const;
  [[nodiscard]] std::vector<at::Tensor> converted_block(std::size_t layer) const;
  struct Head {
    at::Tensor loss;
    at::Tensor gradient;  // of the loss by the last block's output
  };
  Head backward_head(const at::Tensor& targets, const GradientVisitor& visit);
  at::Tensor backward_block(std::size_t layer, const at::Tensor& gradient, const GradientVisitor& visit);

  const Parameters& parameters_;
  at::ScalarType dtype_;
  std::size_t num_layers_;
  AttentionTables tables_;
  at::Tensor tokens_;
  std::vector<at::Tensor> inputs_;  // of every block, and of the final norm
};

}  // namespace tbench::model
