#include "tbench/cuda/range.hpp"

#include <nvtx3/nvToolsExt.h>

#include <atomic>

namespace tbench::cuda {
namespace {

std::atomic<RangeListener*> listening{nullptr};

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("transformer_bench");
  return handle;
}

}  // namespace

RangeListener* set_range_listener(RangeListener* listener) noexcept { return listening.exchange(listener); }

Range::Range(const char* name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxDomainRangePushEx(domain(), &attributes);
  if (RangeListener* const listener = listening.load(std::memory_order_acquire)) listener->enter(name);
}

Range::~Range() {
  if (RangeListener* const listener = listening.load(std::memory_order_acquire)) listener->leave();
  nvtxDomainRangePop(domain());
}

}  // namespace tbench::cuda
