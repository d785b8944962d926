#include "tbench/core/environment.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbench {
namespace {

Environment on_h200() {
  Environment environment;
  GpuFacts& gpu = environment.gpu.emplace();
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-1";
  environment.cpu_name = "a CPU";
  environment.versions = {{"driver", "580.159"}, {"libtorch", "2.11.0"}};
  environment.sources_digest = "0123456789abcdef0123456789abcdef";
  environment.build_type = "Release";
  environment.commit = "abc";
  environment.date = "2026-11-21T10:00:00Z";
  return environment;
}

TEST(IncompatibilityTest, SerialNumberDateAndCommitDoNotMatter) {
  Environment other = on_h200();
  other.gpu->uuid = "GPU-2";
  other.gpu->other_processes = 3;
  other.date = "2027-01-01T00:00:00Z";
  other.commit = "def";
  other.cpu_name = "another CPU";
  other.operating_system = "another system";
  EXPECT_EQ(incompatibility(on_h200(), other), std::nullopt);
}

TEST(IncompatibilityTest, NamesAnotherGpuModel) {
  Environment other = on_h200();
  other.gpu->name = "NVIDIA A100-SXM4-80GB";
  EXPECT_EQ(incompatibility(on_h200(), other), "different device: NVIDIA H200 against NVIDIA A100-SXM4-80GB");
}

TEST(IncompatibilityTest, OnTheCpuTheCpuIsTheDevice) {
  Environment a = on_h200();
  a.gpu.reset();
  EXPECT_EQ(incompatibility(on_h200(), a), "different device: NVIDIA H200 against no GPU (a CPU)");
  EXPECT_EQ(incompatibility(a, a), std::nullopt);
  Environment b = a;
  b.cpu_name = "another CPU";
  EXPECT_EQ(incompatibility(a, b), "different device: no GPU (a CPU) against no GPU (another CPU)");
}

TEST(IncompatibilityTest, NamesAnotherBuild) {
  Environment digest = on_h200();
  digest.sources_digest = "fedcba9876543210";
  EXPECT_EQ(incompatibility(on_h200(), digest), "different build: sources 0123456789ab against fedcba987654");
  Environment build_type = on_h200();
  build_type.build_type = "Debug";
  EXPECT_EQ(incompatibility(on_h200(), build_type), "different build: build type Release against Debug");
  Environment variant = on_h200();
  variant.variant = "no_l2";
  EXPECT_EQ(incompatibility(on_h200(), variant), "different build: variant '' against 'no_l2'");
}

TEST(BuildTest, OptionsCountWhereBothSidesTellThem) {
  Environment optimised = on_h200();
  optimised.compile_options = "-O3";
  EXPECT_EQ(build_difference(on_h200(), optimised), std::nullopt) << "an older file does not tell";
  Environment native = on_h200();
  native.compile_options = "-O3 -march=native";
  EXPECT_EQ(build_difference(optimised, native), "compile options '-O3' against '-O3 -march=native'");
  EXPECT_NE(build_key(optimised), build_key(native));
  EXPECT_EQ(build_key(native), build_key(native));
}

TEST(BuildTest, NameIsTheCommitWithTheVariant) {
  Environment build = on_h200();
  build.commit = "29971fb85631-dirty";
  EXPECT_EQ(build_name(build), "29971fb85631-dirty");
  build.variant = "no_l2";
  EXPECT_EQ(build_name(build), "29971fb85631-dirty (no_l2)");
  build.commit = "29971fb856310123456789abcdef012345678901-dirty";
  EXPECT_EQ(build_name(build), "29971fb85631-dirty (no_l2)");
  build.commit = "unknown";
  EXPECT_EQ(build_name(build), "0123456789ab (no_l2)");
}

TEST(IncompatibilityTest, NamesTheVersionThatDiffers) {
  Environment changed = on_h200();
  changed.versions["libtorch"] = "2.12.0";
  EXPECT_EQ(incompatibility(on_h200(), changed), "different version of libtorch: 2.11.0 against 2.12.0");
  Environment added = on_h200();
  added.versions["cudnn"] = "9.19";
  EXPECT_EQ(incompatibility(on_h200(), added), "different version of cudnn: absent against 9.19");
  EXPECT_EQ(incompatibility(added, on_h200()), "different version of cudnn: 9.19 against absent");
}

TEST(IncompatibilityTest, NamesAnotherClockPolicy) {
  Environment locked = on_h200();
  locked.clock_policy = "locked";
  EXPECT_EQ(incompatibility(on_h200(), locked), "different clock policy: default against locked");
}

TEST(WorkerDifferenceTest, IsAnotherBuildDriverOrGpu) {
  Environment now = on_h200();
  now.date = "2027-01-01T00:00:00Z";
  now.gpu->other_processes = 1;
  EXPECT_EQ(worker_difference(on_h200(), now), std::nullopt);
  now.gpu->uuid = "GPU-2";
  EXPECT_EQ(worker_difference(on_h200(), now), "another GPU: GPU-1 against GPU-2");
  now.gpu.reset();
  EXPECT_EQ(worker_difference(on_h200(), now), "different device: NVIDIA H200 against no GPU (a CPU)")
      << "it lost its GPU";
  EXPECT_EQ(worker_difference(now, on_h200()), "different device: no GPU (a CPU) against NVIDIA H200");
  Environment commit = on_h200();
  commit.commit = "def";
  EXPECT_EQ(worker_difference(on_h200(), commit), "different build: commit abc against def");
  Environment driver = on_h200();
  driver.versions["driver"] = "590.1";
  EXPECT_EQ(worker_difference(on_h200(), driver), "different version of driver: 580.159 against 590.1");
}

TEST(MachinesTest, OneMachineIsDescribedByTheEnvironment) {
  Environment environment = on_h200();
  Environment later = on_h200();
  later.date = "2026-11-22T10:00:00Z";
  EXPECT_EQ(add_machines(environment, later), std::vector<std::int64_t>{0});
  EXPECT_EQ(environment, on_h200()) << "the same machine on another day";
  EXPECT_EQ(gpu_uuids(environment), std::vector<std::string>{"GPU-1"});
  EXPECT_EQ(gpu_uuid(environment, 0), "GPU-1");
}

TEST(MachinesTest, SeveralKeepTheOrderInWhichTheyBegan) {
  Environment environment = on_h200();
  Environment second = on_h200();
  second.gpu->uuid = "GPU-0";
  second.date = "2026-11-22T10:00:00Z";
  EXPECT_EQ(add_machines(environment, second), std::vector<std::int64_t>{1});
  EXPECT_EQ(environment.gpu->uuid, "") << "several GPUs are none in particular";
  EXPECT_EQ(gpu_uuids(environment), (std::vector<std::string>{"GPU-0", "GPU-1"}));
  EXPECT_EQ(gpu_uuid(environment, 0), "GPU-1");
  EXPECT_EQ(gpu_uuid(environment, 1), "GPU-0");

  Environment both = second;
  Environment third = on_h200();
  third.gpu->uuid = "GPU-3";
  static_cast<void>(add_machines(both, third));
  EXPECT_EQ(add_machines(environment, both), (std::vector<std::int64_t>{1, 2})) << "GPU-0 is known, GPU-3 is not";
  EXPECT_EQ(environment.machines.size(), 3U);
}

TEST(MachinesTest, OneGpuInTwoHostsIsTwoMachines) {
  Environment environment = on_h200();
  Environment moved = on_h200();
  moved.cpu_name = "another CPU";
  EXPECT_EQ(add_machines(environment, moved), std::vector<std::int64_t>{1});
  EXPECT_EQ(environment.gpu->uuid, "GPU-1");
}

}  // namespace
}  // namespace tbench
