#include "tbench/capture/tracer.hpp"

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/activity_buffers.hpp"
#include "capture/cupti_subscription.hpp"
#include "tbench/cuda/error.hpp"
#include "tbench/cuda/range.hpp"
#include "tbench/profile/kernel_name.hpp"

namespace tbench::capture {
namespace {

constexpr std::size_t kBuffers = 8;

constexpr std::array kKinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
                            CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER,
                            CUPTI_ACTIVITY_KIND_OVERHEAD};

/// The driver's launch calls, which some libraries use without the runtime. All other driver calls are disabled one by
/// one, because without CUPTI_ACTIVITY_KIND_DRIVER no driver call is recorded, even if it is enabled by itself (CUPTI
/// of CUDA 13.0, on an H200).
constexpr std::array kDriverLaunches{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                                     CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                                     CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                                     CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
                                     CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
                                     CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
                                     CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
                                     CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};

/// Calls that make up nine tenths of the runtime's calls and have no effect that a table shows.
constexpr std::array kQuietRuntimeCalls{
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
    CUPTI_RUNTIME_TRACE_CBID_cudaFuncGetAttributes_v3020};

std::uint64_t thread_id() { return static_cast<std::uint64_t>(::syscall(SYS_gettid)); }

/// Assigns an index to every distinct text, in the order in which the texts are added.
class NameTable {
 public:
  profile::Index index_of(const std::string& name) {
    const auto [known, is_new] = known_.try_emplace(name, static_cast<profile::Index>(names_.size()));
    if (is_new) names_.push_back(name);
    return known->second;
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

 private:
  std::unordered_map<std::string, profile::Index> known_;
  std::vector<std::string> names_;
};

/// Records the ranges of all threads, with CUPTI's clock.
class RangeLog final : public cuda::RangeListener {
 public:
  struct Entry {
    std::string name;
    std::uint64_t thread{};
    std::int64_t start_ns{};
    std::int64_t end_ns{};
  };

  void enter(const char* name) override {
    const std::lock_guard lock{mutex_};
    const std::uint64_t thread = thread_id();
    open_[thread].push_back({.name = name, .thread = thread, .start_ns = Tracer::now_ns()});
  }
  void leave() override {
    const std::lock_guard lock{mutex_};
    std::vector<Entry>& open = open_[thread_id()];
    if (open.empty()) return;
    open.back().end_ns = Tracer::now_ns();
    closed_.push_back(std::move(open.back()));
    open.pop_back();
  }
  [[nodiscard]] std::vector<Entry> take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(closed_, {});
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::vector<Entry>> open_;  // by thread
  std::vector<Entry> closed_;
};

std::string copy_name(std::uint8_t copy_kind) {
  switch (copy_kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "Memcpy HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "Memcpy DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "Memcpy DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "Memcpy PtoP";
    default:
      return "Memcpy other";
  }
}

/// Converts CUPTI's records to a trace.
class TraceBuilder {
 public:
  void add(const CUpti_Activity& record);
  void add(const std::vector<RangeLog::Entry>& ranges);
  [[nodiscard]] CapturedTrace take(std::size_t dropped);

 private:
  /// Fills the fields that all records of operations share.
  template <class Record>
  profile::Operation operation_of(const Record& record, profile::OperationKind kind, const std::string& name) {
    return {.start_ns = static_cast<std::int64_t>(record.start),
            .end_ns = static_cast<std::int64_t>(record.end),
            .graph_node = record.graphNodeId,
            .name = names_.index_of(name),
            .correlation = record.correlationId,
            .stream = record.streamId,
            .device = static_cast<std::uint16_t>(record.deviceId),
            .kind = kind};
  }
  template <class Record>
  void add_copy(const Record& record) {
    profile::Operation copy = operation_of(record, profile::OperationKind::kMemcpy, copy_name(record.copyKind));
    copy.bytes = static_cast<std::int64_t>(record.bytes);
    trace_.operations.push_back(copy);
  }
  void add_call(const CUpti_ActivityAPI& record);
  profile::Index thread_index(std::uint64_t id);

  profile::Trace trace_;
  NameTable names_;
  std::unordered_map<std::string, std::string> demangled_;
  std::unordered_map<std::uint64_t, profile::Index> threads_;
  std::int64_t overhead_ns_{};
};

profile::Index TraceBuilder::thread_index(std::uint64_t id) {
  const auto [known, is_new] = threads_.try_emplace(id, static_cast<profile::Index>(trace_.threads.size()));
  if (is_new) trace_.threads.push_back({.process = 0, .id = id});
  return known->second;
}

void TraceBuilder::add_call(const CUpti_ActivityAPI& record) {
  const char* name = nullptr;
  const CUpti_CallbackDomain domain =
      record.kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
  const bool is_named = cuptiGetCallbackName(domain, record.cbid, &name) == CUPTI_SUCCESS && name != nullptr;
  trace_.calls.push_back({.start_ns = static_cast<std::int64_t>(record.start),
                          .end_ns = static_cast<std::int64_t>(record.end),
                          .name = names_.index_of(is_named ? name : "(unnamed)"),
                          .thread = thread_index(record.threadId),
                          .correlation = record.correlationId});
}

void TraceBuilder::add(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
      const std::string symbol = kernel.name == nullptr ? "(unnamed)" : kernel.name;
      const auto [known, is_new] = demangled_.try_emplace(symbol);
      if (is_new) known->second = profile::demangled_name(symbol);
      trace_.operations.push_back(operation_of(kernel, profile::OperationKind::kKernel, known->second));
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_copy(reinterpret_cast<const CUpti_ActivityMemcpy6&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return add_copy(reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
      profile::Operation operation = operation_of(fill, profile::OperationKind::kMemset, "Memset");
      operation.bytes = static_cast<std::int64_t>(fill.bytes);
      trace_.operations.push_back(operation);
      return;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return add_call(reinterpret_cast<const CUpti_ActivityAPI&>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD: {
      const auto& overhead = reinterpret_cast<const CUpti_ActivityOverhead3&>(record);
      overhead_ns_ += static_cast<std::int64_t>(overhead.end - overhead.start);
      return;
    }
    default:
      return;
  }
}

void TraceBuilder::add(const std::vector<RangeLog::Entry>& ranges) {
  for (const RangeLog::Entry& range : ranges) {
    trace_.ranges.push_back({.start_ns = range.start_ns,
                             .end_ns = range.end_ns,
                             .name = names_.index_of(range.name),
                             .thread = thread_index(range.thread)});
  }
}

CapturedTrace TraceBuilder::take(std::size_t dropped) {
  std::ranges::stable_sort(trace_.operations, {}, &profile::Operation::start_ns);
  trace_.names = names_.take();
  return {.trace = std::move(trace_), .dropped = static_cast<std::int64_t>(dropped), .overhead_ns = overhead_ns_};
}

}  // namespace

class Tracer::Impl {
 public:
  Impl() : buffers_{ActivityBuffers::of_process()} {
    buffers_.attach();
    check_cupti(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), "cuptiSetThreadIdType");
    buffers_.reserve(kBuffers);
  }
  ~Impl() {
    if (is_on_) disable();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void start() {
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
    is_on_ = true;
    for (const CUpti_ActivityKind kind : kKinds) check_cupti(cuptiActivityEnable(kind), "cuptiActivityEnable");
    for (CUpti_CallbackId call = CUPTI_DRIVER_TRACE_CBID_INVALID + 1; call < CUPTI_DRIVER_TRACE_CBID_SIZE; ++call) {
      if (std::ranges::find(kDriverLaunches, call) != kDriverLaunches.end()) continue;
      check_cupti(cuptiActivityEnableDriverApi(call, 0), "cuptiActivityEnableDriverApi");
    }
    for (const CUpti_CallbackId call : kQuietRuntimeCalls) {
      check_cupti(cuptiActivityEnableRuntimeApi(call, 0), "cuptiActivityEnableRuntimeApi");
    }
    cuda::set_range_listener(&ranges_);
    discard();  // CUPTI can count a record of its own as dropped when it is attached after an earlier session
  }

  void discard() {
    flush();
    static_cast<void>(buffers_.drain([](const CUpti_Activity&) {}));
    buffers_.forget_dropped();
    static_cast<void>(ranges_.take());
    buffers_.reserve(kBuffers);
  }

  CapturedTrace stop() {
    flush();
    disable();
    TraceBuilder builder;
    const std::size_t dropped = buffers_.drain([&](const CUpti_Activity& record) { builder.add(record); });
    builder.add(ranges_.take());
    return builder.take(dropped);
  }

 private:
  static void CUPTIAPI on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

  static void flush() {
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
    check_cupti(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  }

  void disable() noexcept {
    cuda::set_range_listener(nullptr);
    for (const CUpti_ActivityKind kind : kKinds) static_cast<void>(cuptiActivityDisable(kind));
    is_on_ = false;
  }

  CuptiSubscription subscription_{&Impl::on_call, nullptr};  // first member: it fails if another tool uses CUPTI
  ActivityBuffers& buffers_;
  RangeLog ranges_;
  bool is_on_{};
};

Tracer::Tracer() : impl_{std::make_unique<Impl>()} {}
Tracer::~Tracer() = default;
std::int64_t Tracer::now_ns() {
  std::uint64_t timestamp = 0;
  check_cupti(cuptiGetTimestamp(&timestamp), "cuptiGetTimestamp");
  return static_cast<std::int64_t>(timestamp);
}
void Tracer::start() { impl_->start(); }
void Tracer::discard() { impl_->discard(); }
CapturedTrace Tracer::stop() { return impl_->stop(); }

}  // namespace tbench::capture
