// strategy:sharded_optimizer: gradients are reduce-scattered, the optimizer updates the rank's share of the parameters,
// and all ranks gather the parameters, which share one storage. Gradients pass through a buffer that holds only some of
// them. A leaf's gradients are freed once they are scattered, and a rank holds its share's gradients only from then
// until the next step. So neither kind of gradient exists while memory holds all activations, and hardly any gradient
// of the share exists while memory holds the gradients of all leaves.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_zero.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <vector>

#include "model/data_parallel/gradient_syncs.hpp"
#include "model/data_parallel/scatter_plan.hpp"

namespace tbench::model {
namespace {

std::vector<ElementRange> places_in_whole(const Parameters& parameters) {
  std::vector<ElementRange> places;
  for (const at::Tensor& leaf : parameters.leaves()) {
    places.push_back({leaf.storage_offset() - parameters.whole().storage_offset(), leaf.numel()});
  }
  return places;
}

class ShardedSync final : public GradientSync {
 public:
  ShardedSync(Trainer& trainer, ranks::Group& group)
      : parameters_{trainer.parameters()},
        group_{group},
        whole_{parameters_.whole()},
        optimized_{trainer.optimized()},
        share_{whole_.narrow(0, group.rank() * (whole_.numel() / group.size()), whole_.numel() / group.size())},
        parts_{scatter_parts(places_in_whole(parameters_), group.size(), share_.numel(),
                             optimized_.front().numel() * group.size())},
        done_after_{leaves_done_after(parts_)} {}

  void begin_step() override {
    for (const at::Tensor& part : optimized_) part.mutable_grad().reset();
  }
  void average(const std::function<void()>& backward) override {
    backward();
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> gradients = flat_gradients();
    parameters_.clear_gradients();
    at::Tensor buffer = at::empty({group_.size() * parts_.front().of_share.count}, whole_.options());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      at::Tensor filled = buffer.narrow(0, 0, group_.size() * parts_[i].of_share.count);
      fill(filled, gradients, parts_[i]);
      for (const std::size_t leaf : done_after_[i]) gradients[leaf].reset();
      at::Tensor scattered = at::empty_like(optimized_[i]);
      group_.mean_scatter(scattered, filled);
      optimized_[i].mutable_grad() = scattered;
    }
  }
  void share_parameters() override { group_.all_gather(whole_, share_); }
  void show_gradients() override {
    std::vector<at::Tensor> of_parts;
    for (const at::Tensor& part : optimized_) of_parts.push_back(part.grad());
    at::Tensor of_share = at::cat(of_parts), gradients = at::empty_like(whole_);
    group_.all_gather(gradients, of_share);
    for (std::size_t leaf = 0; leaf < parameters_.leaves().size(); ++leaf) {
      parameters_.leaves()[leaf].mutable_grad() = parameters_.leaf_of(gradients, leaf);
    }
  }
  [[nodiscard]] std::int64_t step_bytes() const override {
    return static_cast<std::int64_t>(whole_.nbytes() + share_.nbytes());
  }
  [[nodiscard]] std::int64_t held_bytes() const override { return 0; }

 private:
  [[nodiscard]] std::vector<at::Tensor> flat_gradients() const {
    std::vector<at::Tensor> flat;
    flat.reserve(parameters_.leaves().size());
    for (const at::Tensor& leaf : parameters_.leaves()) flat.push_back(leaf.grad().reshape({-1}));
    return flat;
  }
  static void fill(const at::Tensor& buffer, const std::vector<at::Tensor>& gradients, const ScatterPart& part) {
    std::vector<at::Tensor> to, from, gaps;
    for (const ScatterPiece& piece : part.pieces) {
      to.push_back(buffer.narrow(0, piece.place, piece.of_leaf.count));
      from.push_back(gradients[piece.leaf].narrow(0, piece.of_leaf.begin, piece.of_leaf.count));
    }
    for (const ElementRange& gap : part.gaps) gaps.push_back(buffer.narrow(0, gap.begin, gap.count));
    if (!to.empty()) at::_foreach_copy_(to, from);
    if (!gaps.empty()) at::_foreach_zero_(gaps);
  }

  Parameters& parameters_;
  ranks::Group& group_;
  at::Tensor whole_;                          // all parameters: [elements]
  const std::vector<at::Tensor>& optimized_;  // the share's parts, which the optimizer updates
  at::Tensor share_;                          // this rank's share of the parameters: [elements / ranks]
  std::vector<ScatterPart> parts_;            // one per optimized tensor
  std::vector<std::vector<std::size_t>> done_after_;
};

}  // namespace

std::unique_ptr<GradientSync> make_sharded_sync(Trainer& trainer, ranks::Group& group) {
  return std::make_unique<ShardedSync>(trainer, group);
}

}  // namespace tbench::model
