#include "model/training/memory_split.hpp"

#include <set>

namespace tbench::model {
namespace {

/// Of the blocks that were live at the peak and still are, those of gradients: in the forward pass there are none, and
/// in backward they come one by one.
std::int64_t gradient_bytes(const Trainer& trainer, const MemoryPeak& peak) {
  std::set<std::uint64_t> addresses;
  for (const at::Tensor& leaf : trainer.parameters().leaves()) {
    if (!leaf.grad().defined()) continue;
    addresses.insert(reinterpret_cast<std::uintptr_t>(leaf.grad().storage().data()));
  }
  std::int64_t bytes = 0;
  for (const AllocationEvent& block : peak.kept) {
    if (addresses.contains(block.address)) bytes += block.bytes;
  }
  return bytes;
}

}  // namespace

std::map<std::string, std::int64_t> split_of(const MemoryPeak& peak, const Trainer& trainer,
                                             const std::map<std::string, std::int64_t>& others) {
  const std::optional<HeldBytes> planned = trainer.planned_bytes();
  std::map<std::string, std::int64_t> split = others;
  split["parameters"] = trainer.parameters().bytes() + (planned ? planned->copies : 0);
  if (trainer.config().pass != Pass::kForward) {
    split["gradients"] = planned ? planned->gradients : gradient_bytes(trainer, peak);
  }
  if (trainer.optimizer() != nullptr) split["optimizer_state"] = trainer.optimizer()->state_bytes();
  std::int64_t rest = peak.allocated;
  for (const auto& [name, bytes] : split) rest -= bytes;
  split["activations"] = rest;
  return split;
}

}  // namespace tbench::model
