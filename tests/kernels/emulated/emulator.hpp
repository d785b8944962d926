// Emulates one CTA of a GPU on the CPU, thread by thread: its results, its barriers, and reads of shared memory that no
// thread has written. It does not show how long a kernel takes, and each run has one order of the warps.
//
// Every thread is a fiber. Warps run in a random order and for random times; the lanes of a warp run one after the
// other up to the next instruction of the whole warp. Shared memory holds NaN at first.
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
  std::uint32_t seed{};  // seed of the order of warps
  bool late_copies{};    // asynchronous work happens when it is waited for; otherwise at once
};

/// Runs `thread(shared memory)` in each thread of a CTA.
/// @throws  std::logic_error  if threads wait for each other for ever, a barrier is left with arrivals or gets too
///          many, or an address is outside shared memory or not aligned; also whatever a thread throws
void run_block(const BlockLaunch& launch, const std::function<void(char* shared)>& thread);

// The index of the calling thread.

[[nodiscard]] Index thread_index();
[[nodiscard]] Index block_index();
[[nodiscard]] Index grid_extents();
[[nodiscard]] int block_threads();

/// Returns checked shared memory: `bytes` bytes at a multiple of `bytes`.
[[nodiscard]] char* shared_memory(std::uint32_t address, std::size_t bytes);
[[nodiscard]] std::uint32_t shared_address(const void* pointer);

/// Arrives, as one thread, at barrier `number`, which completes when `threads` threads have arrived. Waits for that if
/// `waits`.
void meet_block(int number, int threads, bool waits);

/// Start work that is done, at the latest, when the caller waits for its group. copy_async() copies `bytes` bytes to
/// shared memory, or writes zeros if `valid` is false. do_async() does any other work.
void copy_async(std::uint32_t destination, const void* source, std::size_t bytes, bool valid);
void do_async(std::function<void()> work);
void commit_copies();
void wait_copies(std::size_t pending);

/// Barriers in shared memory that also count bytes (mbarrier), known by their addresses. A new barrier is in the phase
/// with parity 0.
void make_counter(std::uint32_t counter, int arrivals);
/// Arrives, and makes the phase also wait for `bytes` bytes of copies.
void arrive(std::uint32_t counter, int bytes = 0);
[[nodiscard]] bool is_over(std::uint32_t counter, std::uint32_t parity);
void wait_for_phase(std::uint32_t counter, std::uint32_t parity);
/// Does `copy` at a random time, then counts its bytes at the barrier.
void copy_some_time(std::uint32_t counter, int bytes, std::function<void()> copy);

/// Waits for the 32 lanes of the warp. Each passes `bytes` bytes, and gets the bytes of all 32 lanes in order.
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
