#include "studies/ranks/gradient_order.hpp"

#include "tbench/core/work.hpp"

namespace tbench::studies {
namespace {

/// Collects tensors with the FLOP done so far; shares follow when all are known.
class BackwardPass {
 public:
  explicit BackwardPass(std::int64_t tokens) : tokens_{static_cast<double>(tokens)} {}

  void work(Flop flop) { done_ = done_ + flop; }
  /// Tensors that one multiplication of matrices each takes to the result and the gradient, both complete at its end.
  void matrix(std::int64_t elements) {
    constexpr double kFlopPerElement = 4;  // two products, a multiply and an add each
    work(Flop{kFlopPerElement * tokens_ * static_cast<double>(elements)});
    without_flop(elements);
  }
  void matrices(std::int64_t count, std::int64_t elements, bool are_joined) {
    for (std::int64_t i = 0; i < (are_joined ? 1 : count); ++i) matrix(are_joined ? count * elements : elements);
  }
  void without_flop(std::int64_t elements) {
    tensors_.push_back({.elements = elements, .backward_share = done_.value});
  }
  [[nodiscard]] std::vector<GradientTensor> tensors() && {
    for (GradientTensor& tensor : tensors_) tensor.backward_share /= done_.value;
    return std::move(tensors_);
  }

 private:
  double tokens_;
  Flop done_;
  std::vector<GradientTensor> tensors_;
};

}  // namespace

std::vector<GradientTensor> gradient_order(const ModelSize& size, std::int64_t context, std::int64_t batch,
                                           const TensorLayout& layout) {
  const Flop attention = attention_work({.batch = batch,
                                         .heads = size.num_heads,
                                         .seq_q = context,
                                         .seq_kv = context,
                                         .head_dim = size.head_dim(),
                                         .causal = true},
                                        AttentionPass::kBackward)
                             .flop;
  BackwardPass pass{batch * context};
  pass.matrix(kVocabSize * size.d_model);
  pass.without_flop(size.d_model);
  for (std::int64_t layer = 0; layer < size.num_layers; ++layer) {
    pass.matrix(size.d_model * size.d_ff);
    pass.matrices(2, size.d_model * size.d_ff, layout.joined_gate_up);
    pass.without_flop(size.d_model);
    pass.matrix(size.d_model * size.d_model);
    pass.work(attention);
    pass.matrices(3, size.d_model * size.d_model, layout.joined_qkv);
    pass.without_flop(size.d_model);
  }
  pass.without_flop(kVocabSize * size.d_model);
  return std::move(pass).tensors();
}

}  // namespace tbench::studies
