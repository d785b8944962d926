// Plug-ins on a GPU: those that cheat are `incorrect`, with streams, caches and the L2 cache among their means; those
// that do not are measured, a step forked to another stream and the project's own attention kernels among them.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plugin_program.hpp"

namespace tbench::test {
namespace {

constexpr std::array kHonest{"gpu_honest", "gpu_forked"};
constexpr std::array kCheats{"gpu_cached_output", "gpu_cache_by_pointer",   "gpu_memo_by_shape",
                             "gpu_side_stream",   "gpu_side_stream_joined", "gpu_deferred",
                             "gpu_persisting_l2", "gpu_lower_precision",    "gpu_smaller_problem"};

class PluginsOnGpu : public PluginProgram {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "needs a GPU";
  }
  CommandResult run_on_gpu(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {TBENCH_PROGRAM, "--tb_device=cuda", "--tb_ceilings=off", "--benchmark_out=" + out_});
    return run_command(flags);
  }
};

TEST_F(PluginsOnGpu, CheatsAreIncorrectAndHonestOnesAreNot) {
  std::vector<std::string> flags{"--tb_suite=standard", "--benchmark_filter=op:add/.*precision:fp32/"};
  for (const char* name : kHonest) flags.push_back(flag(name));
  for (const char* name : kCheats) flags.push_back(flag(name));
  const CommandResult result = run_on_gpu(flags);
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  const auto entries = by_impl();
  for (const char* impl : kCheats) {
    EXPECT_EQ(entries.at(impl).at("tbench").at("status"), "incorrect") << impl;
  }
  for (const char* impl : kHonest) {
    EXPECT_EQ(entries.at(impl).at("tbench").at("status"), "ok") << impl << entries.at(impl);
  }
}

TEST_F(PluginsOnGpu, OurOwnKernelsTakeAsLongAsAPlugin) {
  // Five shapes of 100 us and more, each in three processes that both take their turns in.
  const CommandResult result = run_on_gpu({"--tb_suite=standard", "--tb_processes=3", flag("flash_plugin"),
                                           "--tb_axis=Attention.seq_len=8192,16384",
                                           "--benchmark_filter=Attention/batch:8/heads:1/d_model:(64|128)/"
                                           "seq_len:(8192|16384)/.*bf16/impl:flash(_plugin)?$"});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  std::map<std::string, std::map<std::string, std::vector<double>>> milliseconds;  // by shape, by implementation
  for (const nlohmann::json& entry : entries()) {
    if (!entry.contains("tbench")) continue;  // an aggregate of the processes
    nlohmann::json shape = entry.at("tbench").at("parameters");
    const std::string impl = shape.at("impl");
    shape.erase("impl");
    milliseconds[shape.dump()][impl].push_back(entry.at("median_ms"));
  }
  ASSERT_GE(milliseconds.size(), 5U);
  double logarithms = 0;
  for (auto& [shape, times] : milliseconds) {
    const auto median = [](std::vector<double>& values) {
      std::ranges::sort(values);
      return values.at(values.size() / 2);
    };
    EXPECT_GE(median(times.at("flash")), 0.1) << shape;
    logarithms += std::log(median(times.at("flash_plugin")) / median(times.at("flash")));
  }
  // The mean over the shapes: processes whose clocks differ by one step, 15 of 1,980 MHz, differ by more in each.
  EXPECT_LE(std::exp(logarithms / static_cast<double>(milliseconds.size())), 1.005);
}

}  // namespace
}  // namespace tbench::test
