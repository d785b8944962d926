// Named, nested ranges of a step: NVTX ranges for NVIDIA's tools, in the domain `transformer_bench`, and told to
// whoever traces the step in this process.
#pragma once

namespace tbench::cuda {

/// Listens to the ranges of all threads, on the thread that enters or leaves; the ranges of one thread are nested.
class RangeListener {
 public:
  virtual ~RangeListener() = default;
  /// @param name  null-terminated; valid during the call
  virtual void enter(const char* name) = 0;
  virtual void leave() = 0;
};

/// Lets `listener` hear of ranges from now on; null: nobody. Call it while no range is open.
/// @return  who listened before; one that listens in front of another passes on what it hears
RangeListener* set_range_listener(RangeListener* listener) noexcept;

/// Entered by the constructor, left by the destructor, on one thread. Some nanoseconds while nobody listens.
class Range {
 public:
  /// @param name  null-terminated; outlives the range
  explicit Range(const char* name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

/// Returns the result of `work`, done inside a range.
template <class Work>
decltype(auto) in_range(const char* name, const Work& work) {
  const Range range{name};
  return work();
}

}  // namespace tbench::cuda
