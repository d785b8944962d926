// Hashes of the kernels, tiles and workspaces that the rules select for 5,491,200 problems, so that no selection
// changes by accident when the rules are moved or rewritten. The walk takes 0.8 s in a release build. It has no shorter
// form for sanitizers, because their half of the tests builds no kernels.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/attention/heuristics/sm80_bwd.hpp"
#include "kernels/attention/heuristics/sm80_fwd.hpp"
#include "kernels/attention/sm80/unsupported.hpp"
#include "support/selections.hpp"

namespace tbench::kernels {
namespace {

constexpr DeviceLimits device(int major, int num_sms, std::size_t shared_kib) {
  return {.compute_capability_major = major,
          .compute_capability_minor = 0,
          .multiprocessors = num_sms,
          .shared_bytes_per_block = shared_kib * 1024};
}
/// An A100, a part of an H100, an H100 PCIe, and an H100 SXM or H200.
constexpr std::array kDevices{device(8, 108, 163), device(9, 60, 227), device(9, 114, 227), device(9, 132, 227)};
constexpr std::array<std::int64_t, 7> kHeadDims{16, 32, 64, 80, 96, 128, 256};
constexpr std::array<std::int64_t, 4> kBatches{1, 2, 4, 16};
constexpr std::array<std::int64_t, 10> kHeads{1, 2, 4, 8, 12, 16, 20, 25, 32, 64};
constexpr std::size_t kNumLengths = 220;

/// Returns one token, and the lengths at which tiles and rules change, with one token fewer and one more.
std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> all{1};
  const auto add = [&](std::int64_t length) { all.insert(all.end(), {length - 1, length, length + 1}); };
  for (std::int64_t length = 64; length <= 2'048; length += 64) add(length);
  for (std::int64_t length = 2'176; length <= 4'096; length += 128) add(length);
  for (std::int64_t length = 4'608; length <= 8'192; length += 512) add(length);
  for (std::int64_t length = 9'216; length <= 16'384; length += 1'024) add(length);
  for (const std::int64_t length : {20'480, 24'576, 28'672, 32'768, 49'152, 65'536, 131'072, 262'144, 524'288}) {
    add(length);
  }
  return all;
}

/// Computes FNV-1a over whole numbers.
class Hash {
 public:
  template <typename... Values>
  void add(Values... values) {
    (add_one(static_cast<std::uint64_t>(values)), ...);
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  void add_one(std::uint64_t value) {
    hash_ = (hash_ ^ value) * 0x100000001b3U;
    hash_ ^= hash_ >> 32;
  }
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

// Numbers of the configs, which do not depend on the order in an enumeration.

int number_of(sm80::FwdConfigId tiles) {
  switch (tiles) {
    case sm80::FwdConfigId::kM128N64:
      return 1;
    case sm80::FwdConfigId::kM64N64:
      return 2;
    case sm80::FwdConfigId::kWarpSplitM64:
      return 3;
    case sm80::FwdConfigId::kWarpSplitM32:
      return 4;
    case sm80::FwdConfigId::kWarpSplitM16:
      return 5;
    case sm80::FwdConfigId::kSplitKv:
      return 6;
  }
  return 0;
}

int number_of(sm80::BwdAlgorithm method) {
  switch (method) {
    case sm80::BwdAlgorithm::kAtomicDq:
      return 1;
    case sm80::BwdAlgorithm::kSplit:
      return 2;
    case sm80::BwdAlgorithm::kSplitFusedDelta:
      return 3;
  }
  return 0;
}

/// FwdM128N64 is the only config at head_dim 256.
int number_of(sm90::FwdConfigId tiles) {
  switch (tiles) {
    case sm90::FwdConfigId::kM192N64Wide:
      return 7;
    case sm90::FwdConfigId::kM128N128:
    case sm90::FwdConfigId::kM128N64:
      return 1;
    case sm90::FwdConfigId::kM192N128:
      return 2;
    case sm90::FwdConfigId::kM192N64:
      return 6;
    case sm90::FwdConfigId::kM256N64:
      return 3;
    case sm90::FwdConfigId::kM128N64x2:
      return 4;
    case sm90::FwdConfigId::kM64N128x2:
      return 5;
  }
  return 0;
}

int number_of(sm90::BwdSchedule blocks) { return blocks == sm90::BwdSchedule::kPersistent ? 1 : 2; }

int number_of(sm90::DqAccumulation sums) {
  switch (sums) {
    case sm90::DqAccumulation::kAtomic:
      return 1;
    case sm90::DqAccumulation::kPerKvTile:
      return 2;
    case sm90::DqAccumulation::kPerHead:
      return 3;
    case sm90::DqAccumulation::kNone:
      return 4;
  }
  return 0;
}

bool is_16_bit(const AttentionProblem& problem) {
  return problem.precision == Precision::kBf16 || problem.precision == Precision::kFp16;
}

/// Returns whether no tile serves a problem. This does not depend on the machine code of this build.
bool is_refused(const AttentionProblem& problem, const DeviceLimits& limits) {
  if (!is_16_bit(problem) && problem.shape.head_dim == 256) return true;
  return sm80::unsupported_reason(problem, limits).has_value();
}

void add_forward(Hash& hash, const AttentionProblem& problem, const DeviceLimits& limits) {
  const sm80::FwdPlan plan = sm80::plan_forward(problem, limits);
  hash.add(number_of(plan.tiles), plan.split_kv.num_splits, plan.split_kv.keys, plan.workspace_bytes);
  if (const auto choice = sm90::choose_forward(problem, limits)) {
    hash.add(number_of(choice->tiles), choice->counted, choice->in_turns, choice->overlaps);
  }
  if (const auto choice = sm90_tf32::choose_forward(problem, limits)) {
    hash.add(1, choice->counted, choice->in_turns);
  }
  hash.add(sm90::forward_workspace_bytes(problem, limits), sm90_tf32::forward_workspace_bytes(problem, limits));
}

void add_backward(Hash& hash, const AttentionProblem& problem, const DeviceLimits& limits) {
  const sm80::BwdPlan plan = sm80::plan_backward(problem, limits);
  hash.add(number_of(plan.method), plan.splits_warps, plan.heads_first, plan.workspace.delta_bytes,
           plan.workspace.lse_bytes, plan.workspace.dq_sums_bytes);
  if (const auto choice = sm90::choose_backward(problem, limits)) {
    hash.add(number_of(choice->blocks), number_of(choice->sums), choice->shares, choice->is_alone);
  }
  if (const auto plan_tf32 = sm90_tf32::select_backward(problem, limits).plan) hash.add(1, plan_tf32->pingpong);
  hash.add(sm90::backward_workspace_bytes(problem, limits), sm90_tf32::backward_workspace_bytes(problem, limits));
}

struct Hashes {
  Hash forward, backward;
  std::int64_t problems{};
};

/// Adds problems of each length. Without a mask, every other problem has different numbers of queries and keys.
void add_lengths(Hashes& hashes, AttentionProblem problem, const std::vector<std::int64_t>& all,
                 const DeviceLimits& limits) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_square = problem.shape.causal || i % 2 == 0;
    problem.shape.seq_kv = all[i];
    problem.shape.seq_q = is_square ? all[i] : all[i * 7 % all.size()];
    if (is_refused(problem, limits)) {
      hashes.forward.add(0);
      hashes.backward.add(0);
      continue;
    }
    add_forward(hashes.forward, problem, limits);
    ++hashes.problems;
    for (const bool deterministic : {false, true}) {
      problem.deterministic = deterministic;
      add_backward(hashes.backward, problem, limits);
      ++hashes.problems;
    }
  }
}

Hashes hashes_of(Precision precision) {
  const std::vector<std::int64_t> all = lengths();
  Hashes hashes;
  for (const DeviceLimits& limits : kDevices) {
    for (const std::int64_t head_dim : kHeadDims) {
      for (const bool causal : {false, true}) {
        for (const std::int64_t batch : kBatches) {
          for (const std::int64_t heads : kHeads) {
            const AttentionShape shape{.batch = batch, .heads = heads, .head_dim = head_dim, .causal = causal};
            add_lengths(hashes, {.shape = shape, .precision = precision, .scale = 0.125f}, all, limits);
          }
        }
      }
    }
  }
  return hashes;
}

struct Golden {
  Precision precision;
  std::uint64_t forward, backward;
};

/// A rule that is changed on purpose changes a hash. The values that a failure prints then go here, with the change's
/// measurements.
constexpr std::array kGolden{Golden{Precision::kFp32, 0x5c9e4aeea5abb793, 0x15910a534ad0e7f},
                             Golden{Precision::kTf32, 0x71ef648016dd35d7, 0x333a7711ff14b196},
                             Golden{Precision::kBf16, 0x1ea95e21e5c341ed, 0x98dde5d1fcaf9eb9},
                             Golden{Precision::kFp16, 0x1ea95e21e5c341ed, 0x98dde5d1fcaf9eb9}};

TEST(AttentionSelection, IsWhatItWas) {
  ASSERT_EQ(lengths().size(), kNumLengths);
  std::int64_t problems = 0;
  for (const Golden& golden : kGolden) {
    const Hashes hashes = hashes_of(golden.precision);
    problems += hashes.problems;
    EXPECT_EQ(fmt::format("{:#x}", hashes.forward.value()), fmt::format("{:#x}", golden.forward))
        << "forward, " << to_string(golden.precision);
    EXPECT_EQ(fmt::format("{:#x}", hashes.backward.value()), fmt::format("{:#x}", golden.backward))
        << "backward, " << to_string(golden.precision);
  }
  EXPECT_EQ(problems, 5'491'200);
}

}  // namespace
}  // namespace tbench::kernels
