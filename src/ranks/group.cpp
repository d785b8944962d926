#include "tbench/ranks/group.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "ranks/group_backends.hpp"
#include "tbench/core/error.hpp"

namespace tbench::ranks {
namespace {

/// Selects an interface as PyTorch does: the interface that the user names if there is one, else the interface of the
/// host's own name.
std::shared_ptr<gloo::transport::Device> gloo_device() {
  const char* const interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr) return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

BackendPointer make_gloo(const c10::intrusive_ptr<c10d::Store>& store, const Launch& launch,
                         std::chrono::milliseconds limit) {
  const auto options = c10d::ProcessGroupGloo::Options::create(limit);
  options->devices.push_back(gloo_device());
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, launch.rank, launch.size, options);
}

#ifdef USE_C10D_NCCL
BackendPointer make_nccl(const c10::intrusive_ptr<c10d::Store>& store, const Launch& launch,
                         std::chrono::milliseconds limit) {
  // Multicast over NVLink changes the traffic on the links, so it is used only if the user asks for it. A supervisor
  // ends a rank that hangs and records the status of the case; c10d's watchdog would abort every rank and hide which
  // rank hung.
  constexpr int kKeep = 0;
  ::setenv("NCCL_NVLS_ENABLE", "0", kKeep);
  ::setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", kKeep);
  const auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = limit;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, launch.rank, launch.size, options);
}
#else
BackendPointer make_nccl(const c10::intrusive_ptr<c10d::Store>&, const Launch&, std::chrono::milliseconds) {
  throw Unsupported{"this program was built without NCCL's header: install it (ci/setup.sh) and build again"};
}
#endif

}  // namespace

struct Pending::State {
  Group::Backends* group{};
  c10::intrusive_ptr<c10d::Work> work;
  at::Tensor sum{};  // set if wait() has to divide the sum for a mean; otherwise undefined
};

Pending::Pending(std::unique_ptr<State> state) : state_{std::move(state)} {}
Pending::Pending(Pending&&) noexcept = default;
Pending& Pending::operator=(Pending&&) noexcept = default;
Pending::~Pending() = default;

void Pending::wait() {
  const at::NoGradGuard no_grad;
  state_->group->guard("all_reduce", [&] { state_->work->wait(); });
  if (state_->sum.defined()) state_->group->divide(state_->sum);
}

Group::Group(const Launch& launch, const std::string& name, bool on_gpu, Seconds limit)
    : backends_{std::make_unique<Backends>()} {
  const std::chrono::milliseconds time{static_cast<std::int64_t>(to_milliseconds(limit))};
  Backends& made = *backends_;
  made.rank = launch.rank;
  made.size = launch.size;
  made.on_gpu = on_gpu;
  made.guard("meeting", [&] {
    made.store = open_torch_store(launch, /*may_serve=*/false, limit);
    made.control = make_gloo(c10::make_intrusive<c10d::PrefixStore>(name + "/gloo", made.store), launch, time);
  });
  if (!on_gpu) {
    made.data = made.control;
    return;
  }
  const c10::intrusive_ptr<c10d::Store> store = open_torch_store(launch, /*may_serve=*/false, limit);
  made.data = make_nccl(c10::make_intrusive<c10d::PrefixStore>(name + "/nccl", store), launch, time);
}

Group::~Group() = default;

int Group::rank() const { return backends_->rank; }

int Group::size() const { return backends_->size; }

std::string Group::backend() const { return backends_->data->getBackendName(); }

bool Group::has_failed() const { return backends_->has_failed; }

std::int64_t Group::calls() const { return backends_->calls; }

std::vector<std::vector<double>> Group::gather(std::span<const double> own) {
  if (own.empty()) throw std::invalid_argument{"gather: every rank has to bring a number at least"};
  const auto count = static_cast<std::int64_t>(own.size());
  at::Tensor input = at::empty({count}, at::kDouble);
  at::Tensor output = at::empty({size() * count}, at::kDouble);
  std::ranges::copy(own, input.mutable_data_ptr<double>());
  backends_->run("gathering times", [&] { return backends_->control->_allgather_base(output, input); });
  std::vector<std::vector<double>> all;
  const double* const numbers = output.const_data_ptr<double>();
  for (std::int64_t rank = 0; rank < size(); ++rank) {
    all.emplace_back(numbers + rank * count, numbers + (rank + 1) * count);
  }
  return all;
}

Pending Group::start_all_reduce(at::Tensor& data) {
  std::vector<at::Tensor> tensors{data};
  auto work = backends_->guard("all_reduce", [&] { return backends_->data->allreduce(tensors); });
  return Pending{std::make_unique<Pending::State>(Pending::State{.group = backends_.get(), .work = std::move(work)})};
}

Pending Group::start_mean(at::Tensor& data) {
  const at::NoGradGuard no_grad;
  auto work = backends_->guard("all_reduce", [&] { return backends_->start_mean(data); });
  return Pending{
      std::make_unique<Pending::State>(Pending::State{.group = backends_.get(), .work = std::move(work), .sum = data})};
}

void Group::all_reduce(at::Tensor& data) { start_all_reduce(data).wait(); }

void Group::mean(at::Tensor& data) { start_mean(data).wait(); }

void Group::mean_scatter(at::Tensor& output, at::Tensor& input) {
  const at::NoGradGuard no_grad;
  c10d::ReduceScatterOptions options;
  options.reduceOp = backends_->mean_op();
  backends_->run("reduce_scatter", [&] { return backends_->data->_reduce_scatter_base(output, input, options); });
  backends_->divide(output);
}

void Group::guard(const char* what, const std::function<void()>& action) { backends_->guard(what, action); }

void Group::all_gather(at::Tensor& output, at::Tensor& input) {
  backends_->run("all_gather", [&] { return backends_->data->_allgather_base(output, input); });
}

void Group::reduce_scatter(at::Tensor& output, at::Tensor& input) {
  backends_->run("reduce_scatter", [&] { return backends_->data->_reduce_scatter_base(output, input); });
}

void Group::broadcast(at::Tensor& data) {
  backends_->run("broadcast", [&] {
    std::vector<at::Tensor> tensors{data};
    return backends_->data->broadcast(tensors);
  });
}

void Group::all_to_all(at::Tensor& output, at::Tensor& input) {
  backends_->run("all_to_all", [&] {
    std::vector<std::int64_t> equal_parts;
    return backends_->data->alltoall_base(output, input, equal_parts, equal_parts);
  });
}

void Group::send_to_next(at::Tensor& received, at::Tensor& sent) {
  constexpr int kTag = 0;
  std::vector<at::Tensor> from{received};
  std::vector<at::Tensor> to{sent};
  const int next = (rank() + 1) % size();
  const int previous = (rank() + size() - 1) % size();
  c10d::Backend& data = *backends_->data;
  backends_->run("send_recv", [&] {
    // NCCL runs send and receive at the same time only if they are issued as one operation.
    if (data.supportsCoalescing()) data.startCoalescing();
    c10::intrusive_ptr<c10d::Work> sending = data.send(to, next, kTag);
    const c10::intrusive_ptr<c10d::Work> receiving = data.recv(from, previous, kTag);
    if (data.supportsCoalescing()) return data.endCoalescing();
    receiving->wait();
    return sending;
  });
}

}  // namespace tbench::ranks
