#include "tbench/ranks/reducer.hpp"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>

#include "ranks/group_backends.hpp"

namespace tbench::ranks {
namespace {

using ProcessGroupPointer = c10::intrusive_ptr<c10d::ProcessGroup>;

/// Wraps a backend in a process group. The reducer's calls go through the dispatcher, which asks a process group for
/// the backend of a tensor's device.
ProcessGroupPointer wrap(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, const BackendPointer& data,
                         bool on_gpu) {
  auto group =
      c10::make_intrusive<c10d::ProcessGroup>(c10::make_intrusive<c10d::PrefixStore>("reducer", store), rank, size);
  const auto type = on_gpu ? c10d::ProcessGroup::BackendType::NCCL : c10d::ProcessGroup::BackendType::GLOO;
  group->setBackend(on_gpu ? c10::DeviceType::CUDA : c10::DeviceType::CPU, type, data);
  group->setDefaultBackend(type);
  return group;
}

std::unique_ptr<c10d::Reducer> make_reducer(const ProcessGroupPointer& group, const std::vector<at::Tensor>& parameters,
                                            std::int64_t bucket_bytes) {
  const std::vector<bool> is_sparse(parameters.size(), false);
  const bool is_default = bucket_bytes == c10d::kDefaultBucketBytesCap;
  const std::int64_t first_bytes = is_default ? c10d::kDefaultFirstBucketBytes : bucket_bytes;
  auto buckets = std::get<0>(
      c10d::compute_bucket_assignment_by_size(parameters, {std::numeric_limits<std::size_t>::max()}, is_sparse));
  std::ranges::reverse(buckets);  // gradients come from the last parameter to the first
  return std::make_unique<c10d::Reducer>(parameters, std::move(buckets), group, is_sparse, bucket_bytes,
                                         /*find_unused_parameters=*/false, /*gradient_as_bucket_view=*/true,
                                         std::unordered_map<std::size_t, std::string>{}, first_bytes,
                                         /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
                                         std::vector<std::int64_t>{});
}

}  // namespace

struct Reducer::State {
  Group::Backends& group;
  std::int64_t bytes{};
  std::unique_ptr<c10d::Reducer> reducer;
};

Reducer::Reducer(Group& group, const std::vector<at::Tensor>& parameters, std::int64_t bucket_bytes)
    : state_{std::make_unique<State>(State{.group = *group.backends_, .bytes = 0, .reducer = nullptr})} {
  for (const at::Tensor& parameter : parameters) state_->bytes += static_cast<std::int64_t>(parameter.nbytes());
  Group::Backends& of = state_->group;
  state_->reducer = make_reducer(wrap(of.store, of.rank, of.size, of.data, of.on_gpu), parameters, bucket_bytes);
}

Reducer::~Reducer() = default;

void Reducer::average(const std::function<void()>& backward) {
  state_->group.guard("the reducer's backward", [&] {
    state_->reducer->rebuild_buckets();
    state_->reducer->prepare_for_backward({});
    backward();
  });
}

std::int64_t Reducer::held_bytes() const { return state_->bytes; }

}  // namespace tbench::ranks
