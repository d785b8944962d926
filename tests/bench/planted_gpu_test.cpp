// Tests three rules on a GPU. A kernel that ruins its CUDA context fails only its own case. Running out of memory is a
// result, and does not change later measurements. Attention names its kernels.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "run_command.hpp"

namespace tbench::test {
namespace {

class ProgramOnGpu : public InFolder {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "needs a GPU";
  }
  [[nodiscard]] nlohmann::json run(const std::string& program, std::vector<std::string> flags, int status) const {
    flags.insert(flags.begin(), {program, "--benchmark_out=" + out_});
    const CommandResult result = run_command(flags);
    EXPECT_EQ(result.status, status) << result.out << result.err;
    std::ifstream stream{out_};
    return nlohmann::json::parse(stream).at("benchmarks");
  }
};

TEST_F(ProgramOnGpu, ABadAddressCostsItsOwnCaseAlone) {
  const nlohmann::json entries =
      run(TBENCH_PLANTED_PROGRAM,
          {"--tb_suite=smoke", "--tb_axis=Planted.fault=none,bad_address", "--tb_axis=Planted.index=1,2"}, 1);
  ASSERT_EQ(entries.size(), 4U);
  for (const nlohmann::json& entry : entries) {
    const bool good = entry.at("tbench").at("parameters").at("fault") == "none";
    EXPECT_EQ(entry.at("tbench").at("status"), good ? "ok" : "crashed") << entry.at("name");
    if (!good) {
      EXPECT_THAT(entry.at("error_message"), ::testing::HasSubstr("illegal memory access"));
    }
  }
}

TEST_F(ProgramOnGpu, OutOfMemoryLeavesNothingBehind) {
  // 131,072 sequences of 512 tokens take 2.1e11 bytes for one fp32 activation of d_model 768. With 4 sequences, the
  // device limits the step, so a varying host cannot look like a step that running out of memory slowed down.
  const std::vector<std::string> flags{"--tb_suite=smoke",          "--tb_axis=Model.size=small",
                                       "--tb_axis=Model.ctx=512",   "--tb_axis=Model.precision=fp32",
                                       "--tb_axis=Model.impl=sdpa", "--tb_axis=Model.pass=train_step",
                                       "--benchmark_filter=Model/"};
  std::vector<std::string> with_oom = flags;
  with_oom.emplace_back("--tb_axis=Model.batch=4,131072,5");
  const nlohmann::json disturbed = run(TBENCH_PROGRAM, with_oom, 0);
  std::vector<std::string> without = flags;
  without.emplace_back("--tb_axis=Model.batch=4,5");
  const nlohmann::json undisturbed = run(TBENCH_PROGRAM, without, 0);
  ASSERT_EQ(disturbed.size(), 3U);
  ASSERT_EQ(undisturbed.size(), 2U);
  EXPECT_EQ(disturbed[1].at("tbench").at("status"), "oom");
  EXPECT_FALSE(disturbed[1].contains("real_time"));
  EXPECT_GT(disturbed[1].at("tbench").at("requested_bytes").get<double>(), 1e10);
  EXPECT_EQ(disturbed[0].at("peak_allocated_bytes"), undisturbed[0].at("peak_allocated_bytes"));
  EXPECT_EQ(disturbed[2].at("peak_allocated_bytes"), undisturbed[1].at("peak_allocated_bytes"));
  const double before = undisturbed[1].at("real_time").get<double>();
  const double after = disturbed[2].at("real_time").get<double>();
  EXPECT_LT(std::abs(after / before - 1), 0.05);
}

TEST_F(ProgramOnGpu, ColdAndWarmKernelsAreCasesOfTheirOwn) {
  const auto kernels = [this](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--tb_suite=standard", "--benchmark_filter=PlantedKernel/"});
    return run(TBENCH_PLANTED_PROGRAM, flags, 0);
  };
  const nlohmann::json cold = kernels({});
  ASSERT_EQ(cold.size(), 2U);
  // The same file continues with the warm cases. Their names differ from the cold ones.
  const nlohmann::json both = kernels({"--tb_l2=warm", "--tb_resume"});
  ASSERT_EQ(both.size(), 4U);
  const nlohmann::json none = kernels({"--tb_l2=cold", "--tb_resume"});
  EXPECT_EQ(none, both);
  for (std::size_t i = 0; i < both.size(); ++i) {
    const nlohmann::json& timing = both[i].at("tbench").at("timing");
    EXPECT_EQ(timing.at("l2"), i < 2 ? "cold" : "warm") << both[i].at("name");
    EXPECT_EQ(both[i].at("tbench").at("parameters").contains("l2"), i >= 2) << both[i].at("name");
    EXPECT_EQ(timing.at("resolution_limited"), i % 2 == 0) << both[i].at("name");
    const double microseconds = i % 2 == 0 ? 3 : 100;
    EXPECT_GE(both[i].at("real_time").get<double>(), microseconds * 1e-3) << both[i].at("name");
    EXPECT_LE(both[i].at("real_time").get<double>(), (microseconds + 6) * 1e-3) << both[i].at("name");
  }
}

TEST_F(ProgramOnGpu, AKnownSlowdownIsInTheCasesTime) {
  const nlohmann::json entries = run(TBENCH_PLANTED_PROGRAM,
                                     {"--tb_suite=standard", "--tb_ceilings=off", "--benchmark_filter=PlantedKernel",
                                      "--tb_plant=PlantedKernel/us:100:0.5"},
                                     0);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_LE(entries[0].at("real_time").get<double>(), 0.009);
  // The kernel takes up to 6 us longer than its spin, and the delay is another such kernel.
  EXPECT_GE(entries[1].at("real_time").get<double>(), 0.150);
  EXPECT_LE(entries[1].at("real_time").get<double>(), 0.168);
}

TEST_F(ProgramOnGpu, CeilingsRunFirstUnlessTheyAreSwitchedOff) {
  const std::vector<std::string> held{"--tb_suite=standard", "--benchmark_filter=Held/against:copy/regime:burst"};
  const nlohmann::json with = run(TBENCH_PLANTED_PROGRAM, held, 0);
  ASSERT_EQ(with.size(), 2U);
  EXPECT_EQ(with[0].at("name"), "Ceiling/what:copy/regime:burst");
  // The share is a quarter: the spin kernels take 100 and 400 us, and each some microseconds more.
  EXPECT_NEAR(with[1].at("ceiling_share").get<double>(), 0.25, 0.02);
  EXPECT_EQ(with[1].at("above_ceiling"), 0);
  std::vector<std::string> off = held;
  off.emplace_back("--tb_ceilings=off");
  const nlohmann::json without = run(TBENCH_PLANTED_PROGRAM, off, 0);
  ASSERT_EQ(without.size(), 1U);
  EXPECT_FALSE(without[0].contains("ceiling_share"));
}

/// Each phase of each implementation must run a kernel that its mark names. A case with a phase that runs no such
/// kernel is incorrect.
TEST_F(ProgramOnGpu, AttentionTellsTheKernelsThatRan) {
  const nlohmann::json entries = run(TBENCH_PROGRAM,
                                     {"--tb_suite=smoke", "--tb_ceilings=off", "--tb_warmup=1", "--tb_samples=2",
                                      "--benchmark_filter=Attention/.*causal:1/pass:forward_backward/precision:bf16/"},
                                     0);
  ASSERT_GE(entries.size(), 6U);
  std::map<std::string, std::string> kernels;
  for (const nlohmann::json& entry : entries) {
    const nlohmann::json& record = entry.at("tbench");
    if (record.at("status") == "unsupported") continue;  // compiled without packages
    kernels[record.at("parameters").at("impl")] = record.at("findings").at("kernels");
  }
  using ::testing::ContainsRegex;
  EXPECT_THAT(kernels["sdpa_flash"], ContainsRegex("pytorch_flash::flash_fwd.* [|] .*pytorch_flash::flash_bwd"));
  EXPECT_THAT(kernels["sdpa_efficient"], ContainsRegex("fmha_cutlassF_bf16.* [|] .*fmha_cutlassB_bf16"));
  EXPECT_THAT(kernels["sdpa_cudnn"], ContainsRegex("cudnn.* [|] .*cudnn"));
  EXPECT_THAT(kernels["flash"], ContainsRegex("tbench::kernels::.*attention_fwd_.* [|] .*attention_bwd_"));
  EXPECT_THAT(kernels["naive"], ContainsRegex("softmax|SoftMax"));
}

/// The GPU's only work in a launch is a spin kernel of known duration.
TEST_F(ProgramOnGpu, TracesWhatTheGpuDoesInAStep) {
  const nlohmann::json entries =
      run(TBENCH_PLANTED_PROGRAM,
          {"--tb_suite=standard", "--tb_ceilings=off", "--tb_trace=on", "--benchmark_filter=PlantedKernel/us:100"}, 0);
  ASSERT_EQ(entries.size(), 1U);
  const nlohmann::json& trace = entries[0].at("tbench").at("trace");
  EXPECT_EQ(trace.at("steps"), 10);
  EXPECT_EQ(trace.at("dropped"), 0);
  ASSERT_EQ(trace.at("kernels").size(), 1U);
  EXPECT_EQ(trace.at("kernels")[0].at("calls"), 1);
  EXPECT_THAT(trace.at("kernels")[0].at("name"), ::testing::HasSubstr("spin"));
  EXPECT_EQ(entries[0].at("kernels_per_step"), 1);
  EXPECT_EQ(entries[0].at("launches_per_step"), 1);
  EXPECT_NEAR(entries[0].at("device_ms").get<double>(), 0.103, 0.003);
  EXPECT_LE(entries[0].at("device_ms").get<double>(), entries[0].at("real_time").get<double>());
}

/// A memory limit simulates a smaller GPU. A case that does not fit is out of memory, and the file records the limit.
TEST_F(ProgramOnGpu, ALimitOfMemoryIsThatOfASmallerGpu) {
  const std::vector<std::string> flags{
      "--tb_suite=full", "--tb_ceilings=off",
      "--benchmark_filter=Model/size:xl/ctx:512/.*train_step/precision:bf16/impl:sdpa$"};
  std::vector<std::string> limited = flags;
  limited.push_back("--tb_memory_limit=16");  // its weights, gradients and moments alone are 30 GiB
  const nlohmann::json entries = run(TBENCH_PROGRAM, limited, 0);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].at("tbench").at("status"), "oom");
  std::ifstream stream{out_};
  const nlohmann::json context = nlohmann::json::parse(stream).at("context").at("tbench");
  EXPECT_EQ(context.at("environment").at("gpu").at("memory_bytes"), std::int64_t{16} << 30);
  EXPECT_EQ(context.at("options").at("memory_limit"), "16");
  const CommandResult too_much = run_command({TBENCH_PROGRAM, "--tb_memory_limit=100000", flags.back()});
  EXPECT_EQ(too_much.status, 2);
  EXPECT_THAT(too_much.err, ::testing::HasSubstr("--tb_memory_limit=100000: the "));
}

/// The folder of --tb_profile has all work that the record's trace is made of, but no flush.
TEST_F(ProgramOnGpu, WritesTheTracedStepsForTbenchProfile) {
  const std::string folder = path("profiles");
  const nlohmann::json entries = run(
      TBENCH_PLANTED_PROGRAM,
      {"--tb_suite=standard", "--tb_ceilings=off", "--tb_profile=" + folder, "--benchmark_filter=PlantedKernel/us:100"},
      0);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_FALSE(entries[0].at("tbench").at("findings").contains("profile"));  // the reason if no profile was written
  const CommandResult tables = run_command({TBENCH_TOOL, "profile", folder, "--csv", "--table=kernels"});
  EXPECT_EQ(tables.status, 0) << tables.err;
  EXPECT_THAT(tables.out, ::testing::HasSubstr("spin"));
  EXPECT_EQ(std::ranges::count(tables.out, '\n'), 2) << tables.out;  // the header, and one kernel
}

TEST_F(ProgramOnGpu, TracesEveryPhaseOfATrainingStep) {
  const nlohmann::json entries =
      run(TBENCH_PROGRAM,
          {"--tb_suite=smoke", "--tb_ceilings=off", "--tb_trace=on",
           "--benchmark_filter=Model/size:tiny/.*train_step/precision:bf16/impl:(eager|sdpa)"},
          0);
  ASSERT_EQ(entries.size(), 2U);
  for (const nlohmann::json& entry : entries) {
    const nlohmann::json& trace = entry.at("tbench").at("trace");
    EXPECT_EQ(trace.at("without_launch"), 0) << entry.at("name");
    EXPECT_EQ(trace.at("dropped"), 0) << entry.at("name");
    std::map<std::string, double> calls;  // by phase
    std::map<std::string, double> products;
    for (const nlohmann::json& kernel : trace.at("kernels")) {
      calls[kernel.at("phase")] += kernel.at("calls").get<double>();
      if (kernel.at("class") == "gemm") products[kernel.at("phase")] += kernel.at("calls").get<double>();
    }
    EXPECT_EQ(calls.size(), 3U) << entry.at("name");
    EXPECT_GT(products["forward"], 0) << entry.at("name");
    EXPECT_GE(products["backward"], 1.5 * products["forward"]) << entry.at("name");  // two per product of forward
    EXPECT_EQ(products["optimizer"], 0) << entry.at("name");
    EXPECT_GT(entry.at("device_ms").get<double>(), 0) << entry.at("name");
    EXPECT_GE(entry.at("kernels_per_step"), entry.at("launches_per_step")) << entry.at("name");
  }
}

}  // namespace
}  // namespace tbench::test
