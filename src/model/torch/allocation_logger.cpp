#include "model/torch/allocation_logger.hpp"

#include <c10/core/Allocator.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tbench/cuda/range.hpp"

namespace tbench::model {

class AllocationLogger::Reporter final : public c10::MemoryReportingInfoBase, public cuda::RangeListener {
 public:
  Reporter(c10::Device device, std::int64_t allocated) : device_{device}, next_{cuda::set_range_listener(this)} {
    log_.allocated_before = allocated;
    open_.push_back(index_of(""));
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
                           .range = open_.back()});
  }

  void enter(const char* name) override {
    if (next_ != nullptr) next_->enter(name);
    const std::lock_guard lock{mutex_};
    const std::string& outer = log_.ranges[open_.back()];
    open_.push_back(index_of(outer.empty() ? name : outer + "/" + name));
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
  std::size_t index_of(const std::string& range) {
    const auto [known, is_new] = known_.try_emplace(range, log_.ranges.size());
    if (is_new) log_.ranges.push_back(range);
    return known->second;
  }

  c10::Device device_;
  cuda::RangeListener* next_;
  mutable std::mutex mutex_;
  AllocationLog log_;
  std::map<std::string, std::size_t> known_;
  std::vector<std::size_t> open_;  // indexes of paths
};

AllocationLogger::AllocationLogger(c10::Device device, std::int64_t allocated)
    : reporter_{std::make_shared<Reporter>(device, allocated)}, guard_{c10::DebugInfoKind::PROFILER_STATE, reporter_} {}

AllocationLogger::~AllocationLogger() { reporter_->stop_listening(); }

std::size_t AllocationLogger::events() const { return reporter_->events(); }
AllocationLog AllocationLogger::take() { return reporter_->take(); }

}  // namespace tbench::model
