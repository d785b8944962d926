// One block of a GPU's threads on the CPU, thread by thread: what a kernel computes, where its barriers are, what it
// reads that nobody has written. Not how long it takes, and one order of its warps a run.
//
// Every thread is a fiber. Warps run in a random order and for random whiles, the lanes of one in turn up to the next
// instruction of the whole warp. Shared memory holds NaN at first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

namespace tbench::kernels::emulator {

constexpr int kLanes = 32;

struct Index {
  unsigned x{}, y{}, z{};
};

struct BlockLaunch {
  Index block, grid;
  int threads{};  // a multiple of 32
  std::size_t shared_bytes{};
  std::uint32_t seed{};  // of the order
  bool late_copies{};    // what is asynchronous takes place when it is waited for, else at once
};

/// Runs `thread(shared memory)` in each of a block's threads.
/// @throws  std::logic_error  where threads wait for each other in vain, a barrier is left with arrivals or gets too
///                            many, an address is outside shared memory or not aligned; whatever a thread throws
void run_block(const BlockLaunch& launch, const std::function<void(char* shared)>& thread);

// For the threads.

[[nodiscard]] Index thread_index();
[[nodiscard]] Index block_index();
[[nodiscard]] Index grid_extents();
[[nodiscard]] int block_threads();

/// Shared memory, checked: `bytes` at a multiple of `bytes`.
[[nodiscard]] char* shared_memory(std::uint32_t address, std::size_t bytes);
[[nodiscard]] std::uint32_t shared_address(const void* pointer);

/// Arrives at barrier `number` of `threads`, and waits there for the others unless it only arrives.
void meet_block(int number, int threads, bool waits);

/// Does something at the latest once its group is waited for: copies `bytes` to shared memory, or zeros if not `valid`;
/// or whatever else.
void copy_async(std::uint32_t destination, const void* source, std::size_t bytes, bool valid);
void do_async(std::function<void()> work);
void commit_copies();
void wait_copies(std::size_t pending);

/// Barriers in shared memory that count bytes, too (mbarrier), known by their addresses. The phase of parity 0 is a
/// new one's first.
void make_counter(std::uint32_t counter, int arrivals);
/// Arrives, and makes the phase wait for so many bytes of copies, too.
void arrive(std::uint32_t counter, int bytes = 0);
[[nodiscard]] bool is_over(std::uint32_t counter, std::uint32_t parity);
void wait_for_phase(std::uint32_t counter, std::uint32_t parity);
/// Does `copy` some time, late or soon, then hands its bytes to the counter.
void copy_some_time(std::uint32_t counter, int bytes, std::function<void()> copy);

/// Waits for the 32 lanes of the warp; each hands in `bytes` and finds all 32 in a row.
[[nodiscard]] const std::byte* meet_warp(const void* mine, std::size_t bytes);

template <class T>
[[nodiscard]] std::array<T, kLanes> meet_warp(const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::array<T, kLanes> all;
  std::memcpy(all.data(), meet_warp(&mine, sizeof(T)), sizeof(all));
  return all;
}

[[nodiscard]] inline int lane() { return static_cast<int>(thread_index().x) % kLanes; }

}  // namespace tbench::kernels::emulator
