#include "tbench/compare/fleet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "support/fleet_samples.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/core/error.hpp"

namespace tbench::compare {
namespace {

using results::NamedResults;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Returns the results of `count` GPUs, alternately 0.05 % above and 0.05 % below the nominal value.
std::vector<NamedResults> alike(int count) {
  std::vector<NamedResults> files;
  for (int i = 0; i < count; ++i) {
    files.push_back(support::gpu_file(i, [i](const CaseId&) { return i % 2 == 0 ? 0.0005 : -0.0005; }));
  }
  return files;
}

const FleetResource& resource(const Fleet& fleet, Resource which) {
  return *std::ranges::find(fleet.resources, which, &FleetResource::resource);
}

template <class Error>
std::string refusal(const std::vector<NamedResults>& files) {
  try {
    static_cast<void>(compare_fleet(files, {}));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Fleet, ASlowGpuIsSlowInItsResourceAlone) {
  std::vector<NamedResults> files = alike(6);
  support::slow_down(files[2], Resource::kLink, 0.05);
  const Fleet fleet = compare_fleet(files, {});
  EXPECT_EQ(fleet.gpu, "NVIDIA H200");
  ASSERT_EQ(fleet.machines.size(), 6U);
  EXPECT_EQ(fleet.machines[2].name, "GPU-10000002-0000");
  EXPECT_TRUE(has_slow(fleet));
  ASSERT_EQ(fleet.resources.size(), 6U);
  for (const FleetResource& one : fleet.resources) {
    for (std::size_t i = 0; i < one.states.size(); ++i) {
      EXPECT_EQ(one.states[i]->is_slow, one.resource == Resource::kLink && i == 2) << to_string(one.resource);
      EXPECT_FALSE(one.states[i]->is_fast);
    }
  }
  const BaselineState& slow = *resource(fleet, Resource::kLink).states[2];
  // The slow GPU's times are longer by a factor of 1 / 0.95 and by 0.05 %. The mean of the other five is 0.0005 * (2 -
  // 3) / 5.
  EXPECT_NEAR(slow.change, 0.95 * std::exp(-0.0005 - 0.0001) - 1, 1e-9);
  EXPECT_LT(slow.score, -10);
}

TEST(Fleet, AFastGpuIsNoAlarmAndHidesNoSlowOne) {
  std::vector<NamedResults> files = alike(8);
  support::slow_down(files[2], Resource::kMemory, -0.06);
  EXPECT_FALSE(has_slow(compare_fleet(files, {.known = {{"NVIDIA H200", Resource::kMemory, {0.005, 60}}}})));
  support::slow_down(files[5], Resource::kMemory, 0.06);
  const Fleet fleet = compare_fleet(files, {.known = {{"NVIDIA H200", Resource::kMemory, {0.005, 60}}}});
  const FleetResource& memory = resource(fleet, Resource::kMemory);
  EXPECT_TRUE(memory.states[2]->is_fast);
  EXPECT_TRUE(memory.states[5]->is_slow);
}

TEST(Fleet, CeilingsOfTheHostAndFailedOnesDoNotCount) {
  std::vector<NamedResults> files = alike(5);
  for (Record& record : files[1].file.records) {
    const std::string& what = record.id.at("what");
    if (what == "dispatch" || what == "h2d_pageable") record.timing->median = Seconds{1};
    if (what == "copy") record.status = Status::kUnstable;
    if (what == "copy") record.timing->median = Seconds{1};
  }
  EXPECT_FALSE(has_slow(compare_fleet(files, {})));
}

TEST(Fleet, FilesAndProcessesOfAGpuCountTogether) {
  std::vector<NamedResults> files = alike(3);
  // The first GPU has two more files, one of them far off. The median is not.
  files.push_back(support::gpu_file(0, [](const CaseId&) { return 0.0005; }));
  files.push_back(support::gpu_file(0, [](const CaseId&) { return 0.5; }));
  const Fleet fleet = compare_fleet(files, {});
  ASSERT_EQ(fleet.machines.size(), 3U);
  EXPECT_THAT(fleet.machines[0].files, ElementsAre("gpu0.json", "gpu0.json", "gpu0.json"));
  EXPECT_NEAR(resource(fleet, Resource::kMemory).states[0]->change, std::exp(-0.0005) - 1, 1e-9);
}

TEST(Fleet, AnonymousFilesAreAMachineEach) {
  std::vector<NamedResults> files = alike(3);
  for (NamedResults& one : files) one.file.environment.gpu->uuid.clear();
  const Fleet fleet = compare_fleet(files, {});
  ASSERT_EQ(fleet.machines.size(), 3U);
  EXPECT_EQ(fleet.machines[1].name, "gpu1.json");
}

TEST(Fleet, MachinesNeedNotHaveTheSameCeilings) {
  // Each GPU is faster in proportion to its number, a product takes its own time, and every GPU lacks some products.
  std::vector<NamedResults> files;
  for (int i = 0; i < 6; ++i) {
    files.push_back(support::gpu_file(i, [i](const CaseId& id) {
      return -0.01 * i + (id.at("what") == "gemm_bf16" ? 0.7 : 0);  // a bf16 product takes a different time
    }));
    std::erase_if(files.back().file.records, [i](const Record& record) {
      return record.id.at("what") == (i % 2 == 0 ? "gemm_bf16" : "gemm_fp16") && i != 3;
    });
  }
  const Fleet fleet = compare_fleet(files, {});
  const FleetResource& tensor = resource(fleet, Resource::kTensor);
  EXPECT_THAT(tensor.ceilings, SizeIs(8));
  for (std::size_t i = 0; i + 1 < 6; ++i) {
    EXPECT_LT(tensor.states[i]->change, tensor.states[i + 1]->change) << i;
  }
  // The change is relative to the mean of the five other GPUs.
  EXPECT_NEAR(tensor.states[0]->change, std::exp(-0.03) - 1, 2e-3);
}

TEST(Fleet, AResourceThatFewHaveIsLeftOut) {
  std::vector<NamedResults> files = alike(4);
  for (std::size_t i : {0U, 1U}) {
    std::erase_if(files[i].file.records, [](const Record& record) { return record.id.at("what") == "l2_read"; });
  }
  std::erase_if(files[0].file.records, [](const Record& record) { return record.id.at("what") == "gemm_fp32"; });
  const Fleet fleet = compare_fleet(files, {});
  EXPECT_THAT(fleet.resources, SizeIs(5));
  EXPECT_EQ(resource(fleet, Resource::kFloat32).machines, 3U);
  EXPECT_FALSE(resource(fleet, Resource::kFloat32).states[0].has_value());
}

TEST(Fleet, DifferencesThatExplainSomethingAreSaid) {
  std::vector<NamedResults> files = alike(4);
  files[1].file.environment.gpu->power_limit_w = 500;
  files[2].file.environment.sources_digest = "abc";
  files[3].file.records.clear();
  const Fleet fleet = compare_fleet(files, {});
  EXPECT_THAT(
      fleet.warnings,
      ElementsAre(HasSubstr("power limit: 500 W in 'gpu1.json', 700 W in 'gpu0.json' and 2 more"),
                  HasSubstr("2 builds"), HasSubstr("GPU-10000003-0000 has no ceilings: run it with --tb_ceilings=on")));
}

TEST(Fleet, AFileOfSeveralMachinesHasTheTimesOfEach) {
  std::vector<NamedResults> files = alike(4);
  const Fleet apart = compare_fleet(files, {});
  results::ResultFile& first = files[0].file;
  static_cast<void>(add_machines(first.environment, files[3].file.environment));
  for (Record& record : files[3].file.records) {
    record.machine = 1;
    record.repetition_index += 100;
    first.records.push_back(record);
  }
  files.pop_back();
  const Fleet joined = compare_fleet(files, {});
  ASSERT_EQ(joined.machines.size(), 4U);
  EXPECT_EQ(joined.machines[1].name, apart.machines[3].name);
  EXPECT_EQ(resource(joined, Resource::kFloat32).states[1]->change,
            resource(apart, Resource::kFloat32).states[3]->change);
}

TEST(Fleet, RefusesWhatIsNotOneFleet) {
  std::vector<NamedResults> files = alike(4);
  files[1].file.environment.gpu->name = "NVIDIA H100";
  EXPECT_THAT(
      refusal<NotComparable>(files),
      HasSubstr("GPU: NVIDIA H100 in 'gpu1.json', NVIDIA H200 in 'gpu0.json' and 2 more; give the files of one"));
  files = alike(4);
  files[2].file.environment.clock_policy = "locked-base";
  EXPECT_THAT(refusal<NotComparable>(files), HasSubstr("clock policy: default in"));
  EXPECT_THAT(refusal<UsageError>(alike(2)), HasSubstr("2 machines, and no ceiling that three of them have"));
  files = alike(3);
  files[2].file.options["merged_gpus"] = "GPU-1, GPU-2";
  EXPECT_THAT(refusal<UsageError>(files), HasSubstr("'gpu2.json': merged from the results of several GPUs"));
  files[2].file.environment = support::cpu_environment();
  EXPECT_THAT(refusal<UsageError>(files), HasSubstr("'gpu2.json': measured on a CPU"));
}

TEST(Fleet, WhatIsKnownOfTheModelAndResourceCounts) {
  std::vector<NamedResults> files = alike(8);
  support::slow_down(files[2], Resource::kLaunch, 0.01);
  const Fleet alone = compare_fleet(files, {});
  EXPECT_TRUE(resource(alone, Resource::kLaunch).states[2]->is_slow);
  EXPECT_FALSE(resource(alone, Resource::kLaunch).known.has_value());
  const FleetOptions options{.known = {{"NVIDIA H100", Resource::kLaunch, {0.0001, 60}},
                                       {"NVIDIA H200", Resource::kLaunch, {0.02, 60}},
                                       {"NVIDIA H200", Resource::kMemory, {0.0001, 60}}}};
  const Fleet fleet = compare_fleet(files, options);
  EXPECT_FALSE(resource(fleet, Resource::kLaunch).states[2]->is_slow);
  EXPECT_DOUBLE_EQ(resource(fleet, Resource::kLaunch).degrees_of_freedom, 67);
}

}  // namespace
}  // namespace tbench::compare
