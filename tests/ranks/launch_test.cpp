#include "tbench/ranks/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tbench/core/error.hpp"

namespace tbench::ranks {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Environment = std::map<std::string, std::string>;

std::optional<Launch> launch_in(const Environment& environment) {
  return find_launch([&](const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional{found->second};
  });
}

/// Returns the message that says what is wrong with the environment.
std::string refusal_of(const Environment& environment) {
  try {
    static_cast<void>(launch_in(environment));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// Returns the variables that torchrun sets for the second of two ranks.
Environment torchrun_variables() {
  return {{"RANK", "1"},
          {"WORLD_SIZE", "2"},
          {"LOCAL_RANK", "1"},
          {"MASTER_ADDR", "gpu-a"},
          {"MASTER_PORT", "29500"},
          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
          {"TORCHELASTIC_RESTART_COUNT", "3"}};
}

/// Returns the variables that srun sets for the ninth of 16 tasks on two nodes.
Environment slurm_variables() {
  return {{"SLURM_PROCID", "8"},  {"SLURM_NTASKS", "16"}, {"SLURM_LOCALID", "0"},
          {"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "2"}, {"SLURM_STEP_NODELIST", "node[07-09,12],login"}};
}

Environment with(Environment environment, const std::string& name, const std::string& value) {
  environment[name] = value;
  return environment;
}

Environment without(Environment environment, const std::string& name) {
  environment.erase(name);
  return environment;
}

TEST(Launch, OfAProcessByItselfIsNothing) {
  EXPECT_EQ(launch_in({}), std::nullopt);
  EXPECT_EQ(launch_in({{"RANK", "3"}}), std::nullopt);
  EXPECT_EQ(launch_in(with(torchrun_variables(), "WORLD_SIZE", "1")), std::nullopt);
  EXPECT_EQ(launch_in(with(slurm_variables(), "SLURM_NTASKS", "1")), std::nullopt);
  // A batch script knows the number of tasks of its job, but it is not a step.
  EXPECT_EQ(launch_in(without(slurm_variables(), "SLURM_STEP_NODELIST")), std::nullopt);
  EXPECT_EQ(launch_in(with(slurm_variables(), "WORLD_SIZE", "1")), std::nullopt);
}

TEST(Launch, OfTorchrunJoinsTheStoreOfItsAgent) {
  const Launch expected{.launcher = Launcher::kTorchrun,
                        .rank = 1,
                        .size = 2,
                        .local_rank = 1,
                        .address = "gpu-a",
                        .port = 29500,
                        .has_agent_store = true,
                        .attempt = "3"};
  EXPECT_EQ(launch_in(torchrun_variables()), expected);
  EXPECT_FALSE(launch_in(with(torchrun_variables(), "RANK", "0")).value().serves_store());
}

TEST(Launch, WithoutAnAgentRankZeroServesTheStore) {
  const Environment plain = without(torchrun_variables(), "TORCHELASTIC_USE_AGENT_STORE");
  EXPECT_FALSE(launch_in(plain).value().serves_store());
  EXPECT_TRUE(launch_in(with(plain, "RANK", "0")).value().serves_store());
}

TEST(Launch, OfSlurmMeetsOnTheFirstHost) {
  const Launch expected{.launcher = Launcher::kSlurm,
                        .rank = 8,
                        .size = 16,
                        .local_rank = 0,
                        .address = "node07",
                        .port = 21234};  // 20000 + 77 * 16 + 2
  EXPECT_EQ(launch_in(slurm_variables()), expected);
  EXPECT_EQ(launch_in(with(slurm_variables(), "MASTER_PORT", "4000")).value().port, 4000);
  EXPECT_EQ(launch_in(with(slurm_variables(), "MASTER_ADDR", "10.0.0.1")).value().address, "10.0.0.1");
}

TEST(Launch, OfTorchrunInsideAStepIsTorchruns) {
  Environment both = torchrun_variables();
  both.merge(slurm_variables());
  EXPECT_EQ(launch_in(both).value().launcher, Launcher::kTorchrun);
  EXPECT_EQ(launch_in(both).value().size, 2);
}

TEST(Launch, NamesAVariableThatIsMissing) {
  for (const char* name : {"RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}) {
    EXPECT_THAT(refusal_of(without(torchrun_variables(), name)),
                AllOf(HasSubstr(std::string{name} + " is not set"), HasSubstr("torchrun or srun")))
        << name;
  }
  for (const char* name : {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID", "SLURM_STEP_ID"}) {
    EXPECT_THAT(refusal_of(without(slurm_variables(), name)), HasSubstr(std::string{name} + " is not set")) << name;
  }
  EXPECT_THAT(refusal_of(with(torchrun_variables(), "MASTER_ADDR", "")), HasSubstr("MASTER_ADDR is not set"));
}

TEST(Launch, NamesAValueThatMakesNoSense) {
  const std::tuple<const char*, const char*, const char*> kWrong[]{{"WORLD_SIZE", "two", "from 1 to 65536"},
                                                                   {"WORLD_SIZE", "0", "from 1 to 65536"},
                                                                   {"RANK", "2", "from 0 to 1"},
                                                                   {"RANK", "-1", "from 0 to 1"},
                                                                   {"LOCAL_RANK", "2", "from 0 to 1"},
                                                                   {"MASTER_PORT", "70000", "from 1 to 65535"}};
  for (const auto& [name, value, range] : kWrong) {
    EXPECT_THAT(refusal_of(with(torchrun_variables(), name, value)),
                AllOf(HasSubstr(std::string{name} + "=" + value), HasSubstr(range), HasSubstr("WORLD_SIZE=1")));
  }
  EXPECT_THAT(refusal_of(with(slurm_variables(), "SLURM_PROCID", "16")), HasSubstr("SLURM_PROCID=16"));
}

TEST(FirstHost, IsFoundInSlurmsLists) {
  EXPECT_EQ(first_host("node7"), "node7");
  EXPECT_EQ(first_host("node7,node3"), "node7");
  EXPECT_EQ(first_host("node[07-09,12],login"), "node07");
  EXPECT_EQ(first_host("node[3,5]"), "node3");
  EXPECT_EQ(first_host("rack[1-2]n[04-05]-gpu"), "rack1n04-gpu");
}

TEST(FirstHost, OfAMalformedListIsRefused) {
  for (const char* list : {"", ",node1", "node[", "node[]", "node[,1]", "node[-3]"}) {
    EXPECT_THROW(static_cast<void>(first_host(list)), UsageError) << list;
  }
}

TEST(VisibleGpu, IsTheOneOfTheRank) {
  EXPECT_EQ(visible_gpu(std::nullopt, 3), "3");
  EXPECT_EQ(visible_gpu("4,5,GPU-6,7", 2), "GPU-6");
  EXPECT_EQ(visible_gpu("5", 3), "5");  // Slurm has selected a GPU for each task
  EXPECT_THROW(static_cast<void>(visible_gpu("4,5", 2)), UsageError);
}

}  // namespace
}  // namespace tbench::ranks
