#include "model/torch/allocation_logger.hpp"

#include <ATen/record_function.h>
#include <c10/core/Allocator.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/cuda/range.hpp"

namespace tbench::model {
namespace {

/// Whether the operator only allocates memory for the operator that calls it.
bool only_allocates(std::string_view operation) {
  return operation.starts_with("aten::empty") || operation.starts_with("aten::new_empty") ||
         operation == "aten::resize_";
}

}  // namespace

class AllocationLogger::Reporter final : public c10::MemoryReportingInfoBase, public cuda::RangeListener {
 public:
  Reporter(c10::Device device, std::int64_t allocated) : device_{device}, next_{cuda::set_range_listener(this)} {
    log_.allocated_before = allocated;
    open_.push_back(index_of(known_, log_.ranges, ""));
    operations_.push_back(index_of(known_operations_, log_.operations, ""));
  }
  ~Reporter() override = default;
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  void stop_listening() { cuda::set_range_listener(next_); }

  [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }
  void reportMemoryUsage(void* address, int64_t bytes, std::size_t total_allocated, std::size_t /*total_reserved*/,
                         c10::Device device) override {
    if (device.type() != device_.type() || bytes == 0) return;
    const std::lock_guard lock{mutex_};
    log_.events.push_back({.address = reinterpret_cast<std::uintptr_t>(address),
                           .bytes = bytes,
                           .allocated = static_cast<std::int64_t>(total_allocated),
                           .range = open_.back(),
                           .operation = operations_.back()});
  }

  /// Notes the start of an operator. Returns whether later allocations are attributed to it.
  bool enter_operation(const char* name) {
    const std::lock_guard lock{mutex_};
    if (only_allocates(name)) return false;
    operations_.push_back(index_of(known_operations_, log_.operations, name));
    return true;
  }
  void leave_operation() {
    const std::lock_guard lock{mutex_};
    if (operations_.size() > 1) operations_.pop_back();
  }

  void enter(const char* name) override {
    if (next_ != nullptr) next_->enter(name);
    const std::lock_guard lock{mutex_};
    const std::string& outer = log_.ranges[open_.back()];
    open_.push_back(index_of(known_, log_.ranges, outer.empty() ? name : outer + "/" + name));
  }
  void leave() override {
    {
      const std::lock_guard lock{mutex_};
      if (open_.size() > 1) open_.pop_back();
    }
    if (next_ != nullptr) next_->leave();
  }

  [[nodiscard]] std::size_t events() const {
    const std::lock_guard lock{mutex_};
    return log_.events.size();
  }
  [[nodiscard]] AllocationLog take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(log_, {});
  }

 private:
  using Known = std::map<std::string, std::size_t>;
  static std::size_t index_of(Known& known, std::vector<std::string>& names, const std::string& name) {
    const auto [place, is_new] = known.try_emplace(name, names.size());
    if (is_new) names.push_back(name);
    return place->second;
  }

  c10::Device device_;
  cuda::RangeListener* next_;
  mutable std::mutex mutex_;
  AllocationLog log_;
  Known known_, known_operations_;
  std::vector<std::size_t> open_;        // indexes into log_.ranges, the innermost range last
  std::vector<std::size_t> operations_;  // indexes into log_.operations of running operators, the innermost last
};

/// Reports the operators that this thread, and autograd on its behalf, runs. There is one logger at a time.
class AllocationLogger::OperationListener {
 public:
  explicit OperationListener(Reporter& reporter) {
    logging = &reporter;
    handle_ =
        at::addThreadLocalCallback(at::RecordFunctionCallback{&on_start, &on_end}.scopes({at::RecordScope::FUNCTION}));
  }
  ~OperationListener() {
    at::removeCallback(handle_);
    logging = nullptr;
  }
  OperationListener(const OperationListener&) = delete;
  OperationListener& operator=(const OperationListener&) = delete;

 private:
  struct Counted final : at::ObserverContext {};

  /// Returns null if allocations are not attributed to the operator, so that its end is ignored.
  static std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
    Reporter* const reporter = logging;
    if (reporter == nullptr || !reporter->enter_operation(function.name())) return nullptr;
    return std::make_unique<Counted>();
  }
  static void on_end(const at::RecordFunction& /*function*/, at::ObserverContext* counted) {
    Reporter* const reporter = logging;
    if (reporter != nullptr && counted != nullptr) reporter->leave_operation();
  }

  static inline std::atomic<Reporter*> logging{};
  at::CallbackHandle handle_{};
};

AllocationLogger::AllocationLogger(c10::Device device, std::int64_t allocated)
    : reporter_{std::make_shared<Reporter>(device, allocated)},
      guard_{c10::DebugInfoKind::PROFILER_STATE, reporter_},
      operations_{std::make_unique<OperationListener>(*reporter_)} {}

AllocationLogger::~AllocationLogger() { reporter_->stop_listening(); }

std::size_t AllocationLogger::events() const { return reporter_->events(); }
AllocationLog AllocationLogger::take() { return reporter_->take(); }

}  // namespace tbench::model
