// Tests the frames of the traces in trace_samples.hpp.
#include "tbench/profile/flame_graph.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<FlameFrame> frames_of(const Trace& trace) { return flame_frames(analyse(trace, KernelRules::built_in())); }

/// Returns `PARENT > NAME OPERATIONS, TOTAL` for each frame of a kind.
std::vector<std::string> lines(const std::vector<FlameFrame>& frames, FlameKind kind) {
  std::vector<std::string> all;
  for (const FlameFrame& frame : frames) {
    if (frame.kind != kind) continue;
    const std::string parent = frame.parent ? frames.at(*frame.parent).name + " > " : "";
    all.push_back(fmt::format("{}{} {}, {} ns", parent, frame.name, frame.operations, frame.total_ns));
  }
  return all;
}

TEST(FlameFrames, AreRangesThenClassesThenKernels) {
  const std::vector<FlameFrame> frames = frames_of(one_step());
  // attention has kernels of 30 and 10 ns. The rest of layer.0 has 20 ns, and layer.1, which shares its row, has 40 ns.
  EXPECT_THAT(lines(frames, FlameKind::kRange),
              ElementsAre("FORWARD 4, 100 ns", "FORWARD > layer.* 4, 100 ns", "layer.* > attention 2, 40 ns",
                          "OPTIMIZER 2, 40 ns", "(no range) 2, 15 ns"));
  EXPECT_THAT(
      lines(frames, FlameKind::kClass),
      ElementsAre("layer.* > gemm 2, 60 ns", "attention > gemm 1, 30 ns", "attention > softmax_forward 1, 10 ns",
                  "OPTIMIZER > memcpy 1, 20 ns", "OPTIMIZER > optimizer 1, 20 ns", "(no range) > other 2, 15 ns"));
  EXPECT_THAT(lines(frames, FlameKind::kKernel),
              ElementsAre("gemm > nvjet_a 2, 60 ns", "gemm > nvjet_a 1, 30 ns",
                          "softmax_forward > softmax_warp_forward 1, 10 ns", "memcpy > Memcpy HtoD 1, 20 ns",
                          "optimizer > multi_tensor_apply_kernel 1, 20 ns", "other > mystery 2, 15 ns"));
}

TEST(FlameFrames, AddUp) {
  for (const Trace& trace : {one_step(), one_layer()}) {
    const Profile profile = analyse(trace, KernelRules::built_in());
    const std::vector<FlameFrame> frames = flame_frames(profile);
    std::vector<std::int64_t> inside(frames.size());
    std::int64_t whole = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (frames[i].parent) {
        ASSERT_LT(*frames[i].parent, i);
        inside[*frames[i].parent] += frames[i].total_ns;
      } else {
        whole += frames[i].total_ns;
      }
    }
    EXPECT_EQ(whole, profile.operations_ns);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const std::int64_t wanted = frames[i].kind == FlameKind::kKernel ? 0 : frames[i].total_ns;
      EXPECT_EQ(inside[i], wanted) << frames[i].name;
    }
  }
}

TEST(FlameFrames, OfNothingAreNone) {
  EXPECT_THAT(frames_of(Trace{}), IsEmpty());
  EXPECT_THAT(frames_of(TraceWriter{}.range(0, 10, "FORWARD").take()), IsEmpty()) << "a range without operations";
}

}  // namespace
}  // namespace tbench::profile
