// Named, nested ranges of a step: NVTX ranges for NVIDIA's tools, in the domain `transformer_bench`, which a tracer in
// this process can also listen to.
#pragma once

namespace tbench::cuda {

/// Receives the ranges of all threads, on the thread that enters or leaves the range. The ranges of one thread are
/// nested.
class RangeListener {
 public:
  virtual ~RangeListener() = default;
  /// Called when a range begins.
  /// @param name  null-terminated; valid during the call
  virtual void enter(const char* name) = 0;
  virtual void leave() = 0;
};

/// Sets the listener that receives all ranges from now on; null for none. Call it while no range is open.
/// @return  the previous listener; a listener that replaces another should forward the ranges to it
RangeListener* set_range_listener(RangeListener* listener) noexcept;

/// A range that the constructor enters and the destructor leaves, on one thread. Costs some nanoseconds without a
/// listener.
class Range {
 public:
  /// Enters the range.
  /// @param name  null-terminated; outlives the range
  explicit Range(const char* name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

/// Calls `work` inside a range and returns its result.
template <class Work>
decltype(auto) in_range(const char* name, const Work& work) {
  const Range range{name};
  return work();
}

}  // namespace tbench::cuda
