// Splits an allocator's bytes by their contents, at any event of a memory pass.
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

/// Assigns a class to every block of a log. If one of the case's tensors lies in the block, the block has the class of
/// the first such tensor. Blocks without a tensor are, in this order of precedence:
/// - `workspaces`, if they outlive their step;
/// - `results`, if they are alive at the end of the step's last phase;
/// - `casts`, if forward made them as copies in another precision;
/// - `activations`, if forward leaves them to a later phase;
/// - temporaries of their phase, if no class above applies.
/// Blocks from before the log have the classes of the tensors that the case held then. `other` is the rest: unknown
/// blocks, and bytes that no tensor asked for, because block sizes are rounded up.
class MemoryClasses {
 public:
  /// Classifies the blocks of a log.
  /// @param marks  tensors alive at each mark, in order; if there are no tensors, there are no classes
  MemoryClasses(const AllocationLog& log, std::span<const LoggedStep> steps, std::span<const std::string_view> phases,
                std::span<const LiveTensors> marks);

  /// Returns the bytes by class after the first `events` events of the log. They add up to the allocator's own count.
  [[nodiscard]] std::map<std::string, std::int64_t> behind(std::size_t events) const;

 private:
  struct Block {
    std::size_t made{};
    std::size_t freed{};  // number of the event; the log's size if never freed
    std::string memory_class;
    std::int64_t bytes{};
    std::int64_t unasked{};  // bytes of the block beyond the size that its tensor asked for
  };
  struct Freed {  // a block from before the log that was freed
    std::size_t event{};
    std::string memory_class;
    std::int64_t bytes{};
    std::int64_t unasked{};
  };

  void find_blocks(const AllocationLog& log, std::span<const LiveTensors> marks);
  void classify(Block& block, const AllocationLog& log, std::span<const LoggedStep> steps,
                std::span<const std::string_view> phases, std::span<const LiveTensors> marks) const;

  bool is_told_{};
  std::map<std::string, std::int64_t> before_;  // bytes by class before the log
  std::vector<Block> blocks_;                   // in the order in which they were made
  std::vector<Freed> freed_;
};

}  // namespace tbench::measure
