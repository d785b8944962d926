// Tests limits of control groups, read from folders that imitate Linux.
#include "tbench/process/host_limits.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

namespace tbench::process {
namespace {

namespace fs = std::filesystem;

class HostLimitsTest : public ::testing::Test {
 public:
  HostLimitsTest() {
    std::string name = fs::temp_directory_path() / "host_limits.XXXXXX";
    root_ = ::mkdtemp(name.data());
  }
  ~HostLimitsTest() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream{root_ / path} << text;
  }

  fs::path root_;
};

TEST(CpuListTest, IsAsLinuxWritesIt) {
  EXPECT_EQ(cpu_list(std::array<int, 0>{}), "");
  EXPECT_EQ(cpu_list(std::array{3}), "3");
  EXPECT_EQ(cpu_list(std::array{0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

TEST(CpuLimitsTest, AreThoseOfTheCallingThread) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int last = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) last = cpu;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const std::optional<CpuLimits> limits = read_cpu_limits();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->affinity, std::to_string(last));
  EXPECT_EQ(limits->quota, cpu_quota());
}

TEST_F(HostLimitsTest, NothingIsLimitedWhereNothingIsTold) {
  EXPECT_FALSE(cpu_quota(root_));
  EXPECT_FALSE(memory_limit(root_));
  write("proc/self/cgroup", "no colon\n0::/\n");
  write("proc/meminfo", "MemFree:   17 kB\nMemTotal:       2048 kB\n");
  EXPECT_FALSE(cpu_quota(root_));
  EXPECT_EQ(memory_limit(root_), 2048 * 1024);
}

TEST_F(HostLimitsTest, TheLeastOfAllGroupsAboveHoldsInVersion2) {
  write("proc/self/cgroup", "0::/user/run/worker\n");
  write("proc/meminfo", "MemTotal: 1048576 kB\n");
  write("sys/fs/cgroup/user/run/worker/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/user/run/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/user/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/user/run/worker/memory.max", "max\n");
  write("sys/fs/cgroup/user/memory.max", "536870912\n");
  EXPECT_EQ(cpu_quota(root_), 1.5);
  EXPECT_EQ(memory_limit(root_), 536870912);
  write("sys/fs/cgroup/user/run/cpu.max", "max 100000\n");
  EXPECT_EQ(cpu_quota(root_), 4.0);
}

TEST_F(HostLimitsTest, Version1HasAFolderAController) {
  write("proc/self/cgroup", "12:memory:/docker/abc\n3:cpuset:/\n2:cpu,cpuacct:/docker/abc/\n0::/\n");
  write("proc/meminfo", "MemTotal: 1048576 kB\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "268435456\n");
  EXPECT_EQ(cpu_quota(root_), 0.5);
  EXPECT_EQ(memory_limit(root_), 268435456);
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(cpu_quota(root_));
  EXPECT_EQ(memory_limit(root_), std::int64_t{1048576} * 1024);
}

/// A container mounts its own group where the host mounts the root, but may see the path that the host uses.
TEST_F(HostLimitsTest, InAContainerTheMountIsItsGroup) {
  write("proc/self/cgroup", "2:cpu:/kubepods/pod1/abc\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(root_), 2.0);
}

}  // namespace
}  // namespace tbench::process
