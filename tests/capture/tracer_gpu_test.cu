#include "tbench/capture/tracer.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tbench/capture/kernel_launches.hpp"
#include "tbench/cuda/flush_and_spin.hpp"
#include "tbench/cuda/range.hpp"

namespace tbench::capture {
namespace {

using profile::OperationKind;
using testing::HasSubstr;
using testing::SizeIs;

template <class Element>
__global__ void traced_kernel(const Element*) {}
__global__ void untyped_kernel() {}

template <class Element>
cudaError_t launch_typed() {
  traced_kernel<Element><<<1, 1>>>(nullptr);
  return cudaGetLastError();
}
cudaError_t launch_untyped() {
  untyped_kernel<<<1, 1>>>();
  return cudaGetLastError();
}

class TracerOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU on this machine";
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // creates the context
  }
  static std::vector<profile::Operation> of_kind(const profile::Trace& trace, OperationKind kind) {
    std::vector<profile::Operation> found;
    std::ranges::copy_if(trace.operations, std::back_inserter(found),
                         [&](const profile::Operation& operation) { return operation.kind == kind; });
    return found;
  }
  static const profile::ApiCall* launch_of(const profile::Trace& trace, const profile::Operation& operation) {
    const auto found = std::ranges::find(trace.calls, operation.correlation, &profile::ApiCall::correlation);
    return found == trace.calls.end() ? nullptr : &*found;
  }
};

TEST_F(TracerOnGpu, SeesEveryKernelAndItsLaunch) {
  Tracer tracer;
  ASSERT_EQ(launch_untyped(), cudaSuccess);  // before the trace, so not a part of it
  tracer.start();
  ASSERT_EQ(launch_typed<float>(), cudaSuccess);
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3{1, 1, 1};
  ASSERT_EQ(cudaLaunchKernelEx(&config, &untyped_kernel), cudaSuccess);
  const auto* const untyped = reinterpret_cast<const void*>(&untyped_kernel);
  ASSERT_EQ(cudaLaunchCooperativeKernel(untyped, dim3{1, 1, 1}, dim3{1, 1, 1}, nullptr), cudaSuccess);
  std::thread{[] { static_cast<void>(launch_typed<int>()); }}.join();
  const CapturedTrace captured = tracer.stop();
  const profile::Trace& trace = captured.trace;
  EXPECT_EQ(captured.dropped, 0);
  const std::vector<profile::Operation> kernels = of_kind(trace, OperationKind::kKernel);
  ASSERT_THAT(kernels, SizeIs(4));
  EXPECT_THAT(trace.names[kernels[0].name], HasSubstr("traced_kernel<float>"));
  EXPECT_THAT(trace.names[kernels[1].name], HasSubstr("untyped_kernel"));
  EXPECT_THAT(trace.names[kernels[3].name], HasSubstr("traced_kernel<int>"));
  for (const profile::Operation& kernel : kernels) {
    EXPECT_GE(kernel.end_ns, kernel.start_ns);
    const profile::ApiCall* const launch = launch_of(trace, kernel);
    ASSERT_NE(launch, nullptr);
    EXPECT_LE(launch->start_ns, kernel.start_ns);
    EXPECT_THAT(trace.names[launch->name], HasSubstr("aunch"));
  }
  EXPECT_NE(launch_of(trace, kernels[3])->thread, launch_of(trace, kernels[0])->thread);
}

/// Launches with the driver API, as cuBLAS does.
cudaError_t launch_by_the_driver() {
  cudaFunction_t function = nullptr;
  if (const cudaError_t status = cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&untyped_kernel));
      status != cudaSuccess) {
    return status;
  }
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &entry, 12000, cudaEnableDefault, &found);
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  void* argument = nullptr;
  const auto launch = reinterpret_cast<decltype(&cuLaunchKernelEx)>(entry);
  return launch(&config, function, &argument, nullptr) == CUDA_SUCCESS ? cudaSuccess : cudaErrorLaunchFailure;
}

TEST_F(TracerOnGpu, SeesLaunchesThatGoPastTheRuntime) {
  ASSERT_EQ(launch_by_the_driver(), cudaSuccess);
  Tracer tracer;
  tracer.start();
  ASSERT_EQ(launch_by_the_driver(), cudaSuccess);
  const CapturedTrace captured = tracer.stop();
  const std::vector<profile::Operation> kernels = of_kind(captured.trace, OperationKind::kKernel);
  ASSERT_THAT(kernels, SizeIs(1));
  const profile::ApiCall* const launch = launch_of(captured.trace, kernels[0]);
  ASSERT_NE(launch, nullptr);
  EXPECT_THAT(captured.trace.names[launch->name], HasSubstr("cuLaunchKernelEx"));
}

/// Returns the host's time per launch in microseconds. It is the shortest of several rounds, because another process on
/// the core can only prolong it.
double microseconds_of_a_launch() {
  constexpr int kRounds = 30, kLaunches = 400;
  double least = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) static_cast<void>(launch_untyped());
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    static_cast<void>(cudaDeviceSynchronize());
    least = std::min(least, time.count() / kLaunches);
  }
  return least;
}

TEST_F(TracerOnGpu, LaunchesCostAfterItWhatTheyCostBefore) {
  const double before = microseconds_of_a_launch();
  {
    Tracer tracer;
    tracer.start();
    static_cast<void>(launch_untyped());
    static_cast<void>(tracer.stop());
  }
  // The shortest of three is taken: a lasting cost of a trace is in all three, a slow moment of the host is not.
  const double after = std::min({microseconds_of_a_launch(), microseconds_of_a_launch(), microseconds_of_a_launch()});
  RecordProperty("launch_us", std::to_string(before) + " before, " + std::to_string(after) + " after");
  EXPECT_LT(after, 1.12 * before) << before << " us before";
}

TEST_F(TracerOnGpu, MeasuresAKernelOfKnownTime) {
  Tracer tracer;
  tracer.start();
  cuda::launch_spin(Seconds{200e-6}, nullptr);
  const CapturedTrace captured = tracer.stop();
  const std::vector<profile::Operation> kernels = of_kind(captured.trace, OperationKind::kKernel);
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_NEAR(static_cast<double>(kernels[0].end_ns - kernels[0].start_ns), 200e3, 8e3);
}

TEST_F(TracerOnGpu, TellsCopiesAndFills) {
  constexpr std::size_t kBytes = 4096;
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 2 * kBytes), cudaSuccess);
  std::vector<char> host(kBytes);
  Tracer tracer;
  tracer.start();
  EXPECT_EQ(cudaMemcpy(memory, host.data(), kBytes, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(static_cast<char*>(memory) + kBytes, memory, kBytes, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset(memory, 0, kBytes), cudaSuccess);
  const CapturedTrace captured = tracer.stop();
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  const std::vector<profile::Operation> copies = of_kind(captured.trace, OperationKind::kMemcpy);
  ASSERT_THAT(copies, SizeIs(2));
  EXPECT_EQ(captured.trace.names[copies[0].name], "Memcpy HtoD");
  EXPECT_EQ(captured.trace.names[copies[1].name], "Memcpy DtoD");
  EXPECT_EQ(copies[1].bytes, static_cast<std::int64_t>(kBytes));
  EXPECT_THAT(of_kind(captured.trace, OperationKind::kMemset), SizeIs(1));
}

TEST_F(TracerOnGpu, PutsLaunchesInTheRangesThatHoldThem) {
  Tracer tracer;
  tracer.start();
  {
    const cuda::Range outer{"FORWARD"};
    const cuda::Range inner{"attention"};
    ASSERT_EQ(launch_untyped(), cudaSuccess);
  }
  const CapturedTrace captured = tracer.stop();
  const profile::Trace& trace = captured.trace;
  ASSERT_THAT(trace.ranges, SizeIs(2));
  const profile::ApiCall* const launch = launch_of(trace, of_kind(trace, OperationKind::kKernel).at(0));
  ASSERT_NE(launch, nullptr);
  for (const profile::Range& range : trace.ranges) {
    EXPECT_LE(range.start_ns, launch->start_ns) << trace.names[range.name];
    EXPECT_GE(range.end_ns, launch->end_ns) << trace.names[range.name];
    EXPECT_EQ(range.thread, launch->thread);
  }
}

TEST_F(TracerOnGpu, TellsTheNodesOfAGraphApart) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  cuda::launch_spin(Seconds{10e-6}, stream);
  cuda::launch_spin(Seconds{10e-6}, stream);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t replay = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  Tracer tracer;
  tracer.start();
  ASSERT_EQ(cudaGraphLaunch(replay, stream), cudaSuccess);
  const CapturedTrace captured = tracer.stop();
  const std::vector<profile::Operation> kernels = of_kind(captured.trace, OperationKind::kKernel);
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].correlation, kernels[1].correlation);
  EXPECT_NE(kernels[0].graph_node, kernels[1].graph_node);
  EXPECT_NE(kernels[0].graph_node, 0U);
  EXPECT_EQ(cudaGraphExecDestroy(replay), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(TracerOnGpu, ForgetsWhatItIsToldToAndStartsAnew) {
  for (int session = 0; session < 3; ++session) {
    Tracer tracer;
    tracer.start();
    ASSERT_EQ(launch_typed<float>(), cudaSuccess);
    tracer.discard();
    ASSERT_EQ(launch_untyped(), cudaSuccess);
    const CapturedTrace captured = tracer.stop();
    const std::vector<profile::Operation> kernels = of_kind(captured.trace, OperationKind::kKernel);
    ASSERT_THAT(kernels, SizeIs(1)) << "session " << session;
    EXPECT_THAT(captured.trace.names[kernels[0].name], HasSubstr("untyped_kernel"));
    EXPECT_EQ(captured.dropped, 0) << "session " << session;
  }
}

TEST_F(TracerOnGpu, LosesNothingOfManyLaunches) {
  constexpr int kLaunches = 50'000;
  Tracer tracer;
  tracer.start();
  for (int i = 0; i < kLaunches; ++i) ASSERT_EQ(launch_untyped(), cudaSuccess);
  const CapturedTrace captured = tracer.stop();
  EXPECT_EQ(captured.dropped, 0);
  EXPECT_THAT(of_kind(captured.trace, OperationKind::kKernel), SizeIs(kLaunches));
}

TEST_F(TracerOnGpu, IsRefusedWhileAnotherHasCupti) {
  {
    const KernelLaunches launches;
    try {
      const Tracer tracer;
      FAIL() << "two clients at once";
    } catch (const CuptiTaken& taken) {
      EXPECT_THAT(taken.what(), HasSubstr("run without it"));
    }
  }
  EXPECT_NO_THROW(Tracer{});
}

}  // namespace
}  // namespace tbench::capture
