#include "emulated/emulator.hpp"

#include <fmt/format.h>
#include <ucontext.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tbench::kernels::emulator {
namespace {

constexpr std::size_t kStackBytes = std::size_t{96} << 10;
constexpr std::size_t kMostHandedIn = 64;
constexpr int kBarriers = 16;

enum class State { kReady, kAtWarp, kAtBarrier, kDone };

using Copy = std::function<void()>;

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack{std::make_unique_for_overwrite<char[]>(kStackBytes)};
  State state{State::kReady};
  std::vector<std::vector<Copy>> groups;  // groups of copies that have been committed
  std::vector<Copy> copies;               // not committed yet
};

/// Two buffers alternate, so that the first lane at the next rendezvous does not overwrite data that other lanes still
/// read.
struct Warp {
  int arrived{};
  std::size_t room{};
  std::array<std::array<std::byte, kLanes * kMostHandedIn>, 2> handed_in{};
};

struct Barrier {
  int arrived{}, expected{};
  std::vector<std::size_t> waiting;
};

struct Counter {
  int arrivals{};  // per phase
  int missing{};   // in this phase
  int bytes{};     // bytes that the phase waits for
  std::uint32_t phase{};
  std::vector<std::size_t> waiting{};
};

struct LateCopy {
  std::uint32_t counter{};
  int bytes{};
  Copy copy;
};

class Block {
 public:
  Block(const BlockLaunch& launch, const std::function<void(char*)>& thread)
      : launch_{launch},
        thread_{thread},
        random_{launch.seed},
        shared_(launch.shared_bytes + kAlignment, static_cast<char>(0xff)),
        fibers_(static_cast<std::size_t>(launch.threads)),
        warps_(fibers_.size() / kLanes) {
    void* begin = shared_.data();
    std::size_t space = shared_.size();
    base_ = static_cast<char*>(std::align(kAlignment, launch.shared_bytes, begin, space));
  }

  void run();

  [[nodiscard]] const BlockLaunch& launch() const { return launch_; }
  [[nodiscard]] std::size_t current() const { return current_; }
  [[nodiscard]] char* base() const { return base_; }
  [[nodiscard]] Fiber& fiber() { return fibers_[current_]; }

  void pause(State state);
  void meet(int number, int threads, bool waits);
  const std::byte* meet_warp(const void* mine, std::size_t bytes);

  void make_counter(std::uint32_t address, int arrivals);
  void arrive(std::uint32_t address, int bytes);
  [[nodiscard]] bool is_over(std::uint32_t address, std::uint32_t parity);
  void wait(std::uint32_t address, std::uint32_t parity);
  void copy_some_time(LateCopy copy) { late_copies_.push_back(std::move(copy)); }

 private:
  static constexpr std::size_t kAlignment = 128;

  static void enter();
  void start(Fiber& fiber);
  [[nodiscard]] std::vector<std::size_t> runnable_warps() const;
  [[nodiscard]] std::optional<std::size_t> next_lane(std::size_t warp, std::size_t from) const;
  void run_warp(std::size_t warp);
  void run_late_copy();
  [[nodiscard]] Counter& counter(std::uint32_t address);
  void end_phase_if_complete(Counter& counter);

  BlockLaunch launch_;
  const std::function<void(char*)>& thread_;
  std::mt19937 random_;
  std::vector<char> shared_;
  char* base_{};
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  std::array<Barrier, kBarriers> barriers_;
  std::map<std::uint32_t, Counter> counters_;
  std::vector<LateCopy> late_copies_;
  ucontext_t scheduler_{};
  std::size_t current_{};
  std::size_t left_{};  // turns of lanes before another warp runs
  std::exception_ptr error_;
};

Block* running = nullptr;

Block& block() {
  if (running == nullptr) throw std::logic_error{"emulator: no block is running"};
  return *running;
}

void Block::enter() {
  try {
    running->thread_(running->base_);
  } catch (...) {
    running->error_ = std::current_exception();
  }
  running->pause(State::kDone);
}

void Block::start(Fiber& fiber) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = &scheduler_;
  makecontext(&fiber.context, &Block::enter, 0);
}

std::vector<std::size_t> Block::runnable_warps() const {
  std::vector<std::size_t> runnable;
  for (std::size_t i = 0; i < fibers_.size(); ++i) {
    const std::size_t warp = i / kLanes;
    if (fibers_[i].state == State::kReady && (runnable.empty() || runnable.back() != warp)) runnable.push_back(warp);
  }
  return runnable;
}

/// Returns the first of a warp's lanes from `from` on that can run.
std::optional<std::size_t> Block::next_lane(std::size_t warp, std::size_t from) const {
  for (std::size_t i = from; i < (warp + 1) * kLanes; ++i) {
    if (fibers_[i].state == State::kReady) return i;
  }
  return std::nullopt;
}

/// Runs the warp until no lane can run, or, in one case of three, for a limited time only.
void Block::run_warp(std::size_t warp) {
  const bool is_short = random_() % 3 == 0;
  left_ = is_short ? random_() % 2000 : std::size_t{1} << 30;
  for (auto lane = next_lane(warp, warp * kLanes); lane && left_ > 0; lane = next_lane(warp, warp * kLanes)) {
    --left_;
    current_ = *lane;
    swapcontext(&scheduler_, &fiber().context);
    if (error_) std::rethrow_exception(error_);
  }
}

/// Switches to the warp's next lane, or after the last one back to run_warp().
void Block::pause(State state) {
  Fiber& mine = fiber();
  mine.state = state;
  const auto next = error_ || left_ == 0 ? std::nullopt : next_lane(current_ / kLanes, current_ + 1);
  if (!next) {
    swapcontext(&mine.context, &scheduler_);
    return;
  }
  --left_;
  current_ = *next;
  swapcontext(&mine.context, &fiber().context);
}

void Block::run() {
  for (Fiber& fiber : fibers_) start(fiber);
  const std::uint_fast32_t warps_for_a_copy = 1 + random_() % 16;
  for (std::vector<std::size_t> runnable = runnable_warps(); !runnable.empty() || !late_copies_.empty();
       runnable = runnable_warps()) {
    if (!late_copies_.empty() && (runnable.empty() || random_() % warps_for_a_copy == 0)) {
      run_late_copy();
    } else {
      run_warp(runnable[random_() % runnable.size()]);
    }
  }
  for (const auto& [address, counter] : counters_) {
    if (counter.waiting.empty()) continue;
    throw std::logic_error{fmt::format("emulator: {} threads wait in vain for phase {} of the counter at {}",
                                       counter.waiting.size(), counter.phase, address)};
  }
  const bool all_done = std::ranges::all_of(fibers_, [](const Fiber& fiber) { return fiber.state == State::kDone; });
  for (std::size_t i = 0; i < barriers_.size(); ++i) {
    if (barriers_[i].arrived == 0) continue;
    throw std::logic_error{fmt::format("emulator: barrier {} is left with {} of {} arrivals", i, barriers_[i].arrived,
                                       barriers_[i].expected)};
  }
  if (!all_done) throw std::logic_error{"emulator: a warp waits for lanes that have ended or wait elsewhere"};
}

void Block::meet(int number, int threads, bool waits) {
  Barrier& barrier = barriers_.at(static_cast<std::size_t>(number));
  if (barrier.arrived > 0 && barrier.expected != threads) {
    throw std::logic_error{
        fmt::format("emulator: barrier {} of {} threads is met as one of {}", number, barrier.expected, threads)};
  }
  barrier.expected = threads;
  if (++barrier.arrived == threads) {
    for (const std::size_t thread : std::exchange(barrier.waiting, {})) fibers_[thread].state = State::kReady;
    barrier.arrived = 0;
    return;
  }
  if (!waits) return;
  barrier.waiting.push_back(current_);
  pause(State::kAtBarrier);
}

void Block::make_counter(std::uint32_t address, int arrivals) {
  counters_[address] = {.arrivals = arrivals, .missing = arrivals};
}

Counter& Block::counter(std::uint32_t address) {
  const auto found = counters_.find(address);
  if (found == counters_.end()) throw std::logic_error{fmt::format("emulator: there is no counter at {}", address)};
  return found->second;
}

void Block::end_phase_if_complete(Counter& counter) {
  if (counter.missing > 0 || counter.bytes > 0) return;
  ++counter.phase;
  counter.missing = counter.arrivals;
  for (const std::size_t thread : std::exchange(counter.waiting, {})) fibers_[thread].state = State::kReady;
}

void Block::arrive(std::uint32_t address, int bytes) {
  Counter& mine = counter(address);
  if (mine.missing == 0) throw std::logic_error{fmt::format("emulator: one too many at the counter at {}", address)};
  mine.bytes += bytes;
  --mine.missing;
  end_phase_if_complete(mine);
}

bool Block::is_over(std::uint32_t address, std::uint32_t parity) { return counter(address).phase % 2 != parity; }

void Block::wait(std::uint32_t address, std::uint32_t parity) {
  while (!is_over(address, parity)) {
    counter(address).waiting.push_back(current_);
    pause(State::kAtBarrier);
  }
}

void Block::run_late_copy() {
  std::swap(late_copies_[random_() % late_copies_.size()], late_copies_.back());
  const LateCopy late = std::move(late_copies_.back());
  late_copies_.pop_back();
  late.copy();
  Counter& counter = this->counter(late.counter);
  counter.bytes -= late.bytes;
  end_phase_if_complete(counter);
}

const std::byte* Block::meet_warp(const void* mine, std::size_t bytes) {
  if (bytes > kMostHandedIn) throw std::logic_error{fmt::format("emulator: a lane hands in {} bytes", bytes)};
  const std::size_t first = current_ / kLanes * kLanes;
  Warp& warp = warps_[current_ / kLanes];
  std::byte* const room = warp.handed_in[warp.room].data();
  std::memcpy(room + (current_ - first) * bytes, mine, bytes);
  if (++warp.arrived < kLanes) {
    pause(State::kAtWarp);
    return room;
  }
  warp.arrived = 0;
  warp.room ^= 1;
  for (std::size_t i = first; i < first + kLanes; ++i) {
    if (fibers_[i].state == State::kAtWarp) fibers_[i].state = State::kReady;
  }
  return room;
}

}  // namespace

void run_block(const BlockLaunch& launch, const std::function<void(char*)>& thread) {
  if (launch.threads <= 0 || launch.threads % kLanes != 0) {
    throw std::logic_error{fmt::format("emulator: {} threads are not warps of {}", launch.threads, kLanes)};
  }
  Block block{launch, thread};
  struct Scope {
    ~Scope() { running = nullptr; }
  } scope;
  running = &block;
  block.run();
}

Index thread_index() { return {.x = static_cast<unsigned>(block().current())}; }
Index block_index() { return block().launch().block; }
Index grid_extents() { return block().launch().grid; }
int block_threads() { return block().launch().threads; }

char* shared_memory(std::uint32_t address, std::size_t bytes) {
  if (address % bytes != 0 || address + bytes > block().launch().shared_bytes) {
    throw std::logic_error{fmt::format("emulator: {} bytes at {} of {} bytes of shared memory", bytes, address,
                                       block().launch().shared_bytes)};
  }
  return block().base() + address;
}

std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(static_cast<const char*>(pointer) - block().base());
}

void meet_block(int number, int threads, bool waits) { block().meet(number, threads, waits); }

void copy_async(std::uint32_t destination, const void* source, std::size_t bytes, bool valid) {
  char* const to = shared_memory(destination, bytes);
  do_async([to, source, bytes, valid] {
    if (valid) {
      std::memcpy(to, source, bytes);
    } else {
      std::memset(to, 0, bytes);
    }
  });
}

void do_async(std::function<void()> work) {
  if (block().launch().late_copies) {
    block().fiber().copies.push_back(std::move(work));
  } else {
    work();
  }
}

void commit_copies() {
  Fiber& fiber = block().fiber();
  fiber.groups.push_back(std::exchange(fiber.copies, {}));
}

void wait_copies(std::size_t pending) {
  std::vector<std::vector<Copy>>& groups = block().fiber().groups;
  while (groups.size() > pending) {
    for (const Copy& copy : groups.front()) copy();
    groups.erase(groups.begin());
  }
}

void make_counter(std::uint32_t counter, int arrivals) { block().make_counter(counter, arrivals); }
void arrive(std::uint32_t counter, int bytes) { block().arrive(counter, bytes); }
bool is_over(std::uint32_t counter, std::uint32_t parity) { return block().is_over(counter, parity); }
void wait_for_phase(std::uint32_t counter, std::uint32_t parity) { block().wait(counter, parity); }
void copy_some_time(std::uint32_t counter, int bytes, std::function<void()> copy) {
  block().copy_some_time({.counter = counter, .bytes = bytes, .copy = std::move(copy)});
}

const std::byte* meet_warp(const void* mine, std::size_t bytes) { return block().meet_warp(mine, bytes); }

}  // namespace tbench::kernels::emulator
