// The bytes of an allocator by what they hold, at any event of a memory pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/allocation_log.hpp"

namespace tbench::measure {

/// A block that was allocated within the log has the class of the first of a case's tensors that lies in it; else it is
/// what the step gives back (`results`: alive at the end of its last phase), a copy in another precision that forward
/// made (`casts`), what forward leaves to a later phase (`activations`), `workspaces` where it outlives its step, or a
/// temporary of its phase. Whatever lived before the log is what the case held then. What no tensor asked for, because
/// blocks are rounded up, is `other`, with everything unknown.
class MemoryClasses {
 public:
  /// @param marks  in order; without any tensor nothing is told
  MemoryClasses(const AllocationLog& log, std::span<const LoggedStep> steps, std::span<const std::string_view> phases,
                std::span<const LiveTensors> marks);

  /// Bytes by class behind the first `events` of the log. They add up to what the allocator counted then.
  [[nodiscard]] std::map<std::string, std::int64_t> behind(std::size_t events) const;

 private:
  struct Block {
    std::size_t made{};
    std::size_t freed{};  // the event; the log's size: never
    std::string memory_class;
    std::int64_t bytes{};
    std::int64_t unasked{};  // of the block, beyond what its tensor asked for
  };
  struct Freed {  // of what lived before the log
    std::size_t event{};
    std::string memory_class;
    std::int64_t bytes{};
    std::int64_t unasked{};
  };

  void find_blocks(const AllocationLog& log, std::span<const LiveTensors> marks);
  void classify(Block& block, const AllocationLog& log, std::span<const LoggedStep> steps,
                std::span<const std::string_view> phases, std::span<const LiveTensors> marks) const;

  bool is_told_{};
  std::map<std::string, std::int64_t> before_;  // the log
  std::vector<Block> blocks_;                   // in the order in which they were made
  std::vector<Freed> freed_;
};

}  // namespace tbench::measure
