#include "tbench/profile/nsys_export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "nsys_samples.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/durable_file.hpp"

namespace tbench::profile {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const NsysVersion& kNewest = kNsysVersions[3];

class NsysExportFile : public testing::Test {
 protected:
  /// Returns the message of the refusal; empty if the export is read.
  std::string refusal() const {
    try {
      static_cast<void>(read_nsys_export(path_));
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos);
      return error.what();
    }
    return "";
  }
  NsysExport read() const { return read_nsys_export(path_); }
  void change(const std::string& sql) const {
    sqlite::Connection{path_, sqlite::Connection::Mode::kWrite, Seconds{0}}.execute(sql);
  }

  support::TemporaryFolder folder_;
  std::string path_{folder_.file("report 1%?#.sqlite")};
};

/// Expects the figures of one_step() in microseconds. The tests of each part compute them by hand.
void expect_one_step(const Profile& profile) {
  ASSERT_EQ(profile.devices.size(), 1U);
  const DeviceTime& device = profile.devices[0];
  EXPECT_EQ(device.span_ns, 200'000);
  EXPECT_EQ(device.busy_ns, 145'000);
  EXPECT_EQ(device.gaps.host_ns, 0);
  EXPECT_EQ(device.gaps.device_ns, 50'000);
  EXPECT_EQ(device.gaps.other_ns, 5'000);
  EXPECT_EQ(device.gaps.longest_ns, 20'000);
  EXPECT_EQ(device.gaps.count, 5);
  EXPECT_EQ(device.kernels, 7);
  EXPECT_EQ(device.launches, 6);

  ASSERT_EQ(profile.phases.size(), 3U);
  EXPECT_EQ(profile.phases[0].name, "FORWARD");
  EXPECT_EQ(profile.phases[0].kernel_ns, 100'000);
  EXPECT_EQ(profile.phases[0].launches, 4);
  EXPECT_EQ(profile.phases[1].name, "OPTIMIZER");
  EXPECT_EQ(profile.phases[1].kernel_ns, 20'000);
  EXPECT_EQ(profile.phases[1].copy_ns, 20'000);
  EXPECT_EQ(profile.phases[2].kernel_ns, 15'000);

  ASSERT_EQ(profile.kernels.size(), 4U);
  EXPECT_EQ(profile.kernels[0].name, "nvjet_a");
  EXPECT_EQ(profile.kernels[0].kernel_class, KernelClass::kGemm);
  EXPECT_EQ(profile.kernels[0].durations.count(), 3);
  EXPECT_EQ(profile.kernels[0].durations.total_ns(), 90'000);
  EXPECT_EQ(profile.kernels[0].durations.min_ns(), 20'000);
  EXPECT_EQ(profile.kernels[0].durations.max_ns(), 40'000);
  EXPECT_DOUBLE_EQ(profile.kernels[0].durations.mean_ns(), 30'000);
  EXPECT_DOUBLE_EQ(profile.kernels[0].durations.std_ns(), 10'000);
  EXPECT_EQ(profile.kernels[1].kernel_class, KernelClass::kSoftmaxForward);
  EXPECT_EQ(profile.kernels[1].durations.total_ns(), 10'000);

  ASSERT_EQ(profile.ranges.size(), 4U);
  EXPECT_EQ(profile.ranges[0].host_exclusive_ns, 20'000);
  EXPECT_EQ(profile.ranges[0].gpu_span_ns, 120'000);
  EXPECT_EQ(profile.ranges[1].label, "layer.*");
  EXPECT_EQ(profile.ranges[1].host.count(), 2);
  EXPECT_EQ(profile.ranges[1].gpu_span_ns, 102'000);
  EXPECT_EQ(profile.ranges[1].gpu_exclusive_ns, 60'000);
  EXPECT_EQ(profile.ranges[2].gpu_exclusive_ns, 40'000);
  EXPECT_EQ(profile.ranges[3].gpu_busy.total_ns(), 30'000);

  ASSERT_EQ(profile.calls.size(), 2U);
  EXPECT_EQ(profile.calls[0].name, "cudaLaunchKernel");
  EXPECT_EQ(profile.calls[0].durations.count(), 6);
  EXPECT_EQ(profile.calls[0].durations.total_ns(), 24'000);
  EXPECT_EQ(profile.calls[1].name, "cudaMemcpyAsync");
  ASSERT_EQ(profile.copies.size(), 1U);
  EXPECT_EQ(profile.copies[0].name, "Memcpy HtoD");
  EXPECT_EQ(profile.copies[0].bytes, 4000);
  EXPECT_EQ(profile.copies[0].total_ns, 20'000);
  EXPECT_EQ(profile.operations_without_launch, 1);
  EXPECT_EQ(profile.operations_without_range, 2);
}

TEST_F(NsysExportFile, OfEveryVersionGivesTheSameFigures) {
  for (const NsysVersion& version : kNsysVersions) {
    SCOPED_TRACE(version.name);
    std::filesystem::remove(path_);
    write_one_step(path_, version);
    const NsysExport read = this->read();
    EXPECT_EQ(read.schema_version, version.schema);
    EXPECT_TRUE(read.is_known_schema);
    EXPECT_EQ(read.dropped_rows, 0);
    expect_one_step(analyse(read.trace, KernelRules::built_in()));
  }
}

TEST_F(NsysExportFile, ACorrelationIsOfAProcess) {
  constexpr std::int64_t kOtherPid = std::int64_t{99} << 24;
  write_one_step(path_, kNewest);
  {
    sqlite::Connection connection{path_, sqlite::Connection::Mode::kWrite, Seconds{0}};
    connection.execute(
        fmt::format("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = {} WHERE correlationId = 4", kOtherPid));
  }
  const NsysExport read = this->read();
  const Profile profile = analyse(read.trace, KernelRules::built_in());
  EXPECT_EQ(profile.operations_without_launch, 2);
  ASSERT_EQ(profile.devices.size(), 2U);
  EXPECT_EQ(profile.devices[1].process, 1);
  EXPECT_EQ(profile.devices[1].span_ns, 40'000);
}

TEST_F(NsysExportFile, RangesOfBothKindsAndOpenOnes) {
  NsysWriter writer{path_, kNewest};
  writer.make_tables();
  writer.range(10, 20, "pushed", 59);
  writer.range(5, 30, "started", 60);
  writer.range(6, 7, "a mark", 34);
  writer.execute(
      fmt::format("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (15, NULL, 59, "
                  "'open', {})",
                  kTid));
  writer.kernel(40, 50, 1, "k");
  writer.call(16, 17, 1, "cuLaunchKernel");
  const Trace trace = read().trace;
  ASSERT_EQ(trace.ranges.size(), 3U);
  EXPECT_EQ(trace.names[trace.ranges[0].name], "pushed");
  EXPECT_EQ(trace.names[trace.ranges[1].name], "started");
  EXPECT_EQ(trace.names[trace.ranges[2].name], "open");
  EXPECT_FALSE(trace.ranges[0].is_of_process);
  EXPECT_TRUE(trace.ranges[1].is_of_process) << "any thread may end it";
  EXPECT_EQ(trace.ranges[2].start_ns, 15);
  EXPECT_EQ(trace.ranges[2].end_ns, 50);  // the last event of the capture
}

TEST_F(NsysExportFile, MayLackTablesAndColumns) {
  {
    NsysWriter writer{path_, kNsysVersions[0]};
    writer.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, shortName INT)");
    writer.execute(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 3, {})", writer.string("k")));
    writer.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (4, 5, 777)");
  }
  const Trace trace = read().trace;
  ASSERT_EQ(trace.operations.size(), 2U);
  EXPECT_EQ(trace.names[trace.operations[0].name], "k");
  EXPECT_EQ(trace.names[trace.operations[1].name], "(name 777)");
  EXPECT_TRUE(trace.calls.empty());
  EXPECT_EQ(analyse(trace, KernelRules::built_in()).operations_without_launch, 2);
}

TEST_F(NsysExportFile, OtherOperationsThanKernels) {
  NsysWriter writer{path_, kNewest};
  writer.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, streamId INT, bytes INT, copyKind INT)");
  writer.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 7, 64, 2), (3, 4, 7, 32, 8), (5, 6, 7, 16, 99)");
  writer.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, end INT, bytes INT)");
  writer.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (2, 3, 128)");
  writer.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, graphId INT)");
  writer.execute("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (0, 9, 12)");
  writer.execute("CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT)");
  writer.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200'), (1, 'NVIDIA H200')");
  const NsysExport read = this->read();
  EXPECT_THAT(read.gpus, ElementsAre("NVIDIA H200"));
  std::vector<std::string> names;
  for (const Operation& operation : read.trace.operations) names.push_back(read.trace.names[operation.name]);
  EXPECT_THAT(names, ElementsAre("CUDA graph 12", "Memcpy DtoH", "Memset", "Memcpy DtoD", "Memcpy (kind 99)"));
  const Profile profile = analyse(read.trace, KernelRules::built_in());
  EXPECT_EQ(profile.graph_replays, 1);
  EXPECT_EQ(profile.copies.size(), 4U);
}

TEST_F(NsysExportFile, RowsThatMakeNoSenseAreLeftOutAndCounted) {
  write_one_step(path_, kNewest);
  {
    sqlite::Connection connection{path_, sqlite::Connection::Mode::kWrite, Seconds{0}};
    connection.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 1 WHERE correlationId = 8");
    connection.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = -1 WHERE correlationId = 7");
    connection.execute("UPDATE NVTX_EVENTS SET end = 9223372036854775807 WHERE start = 5000");
    connection.execute("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = -9223372036854775808 WHERE correlationId = 7");
  }
  const NsysExport read = this->read();
  EXPECT_EQ(read.dropped_rows, 4);
  EXPECT_EQ(read.trace.operations.size(), 6U);
}

TEST_F(NsysExportFile, OfAnUnknownVersionIsReadWithANote) {
  NsysVersion future = kNewest;
  future.schema = "4.0.0";
  write_one_step(path_, future);
  const NsysExport read = this->read();
  EXPECT_FALSE(read.is_known_schema);
  EXPECT_EQ(read.schema_version, "4.0.0");
}

TEST_F(NsysExportFile, OlderThanItsReportIsReadWithANote) {
  write_one_step(path_, kNewest);
  const std::string report = folder_.file("report 1%?#.nsys-rep");
  support::write_text(report, "newer");
  const auto now = std::filesystem::last_write_time(path_);
  std::filesystem::last_write_time(report, now + std::chrono::seconds{2});
  EXPECT_EQ(read().newer_report, "'report 1%?#.nsys-rep' beside it, by 2.0 s");
  std::filesystem::last_write_time(report, now - std::chrono::seconds{2});
  EXPECT_EQ(read().newer_report, "");
}

TEST_F(NsysExportFile, IsReplacedOnlyIfItsNameIsThatOfAnExport) {
  support::write_text(path_, "no database");
  EXPECT_THAT(refusal(), HasSubstr(".sqlite' REPORT.nsys-rep && tbench nsys '"));
  path_ = folder_.file("results.json");
  support::write_text(path_, "{}");
  EXPECT_THAT(refusal(), HasSubstr("=true -o REPORT.sqlite REPORT.nsys-rep && tbench nsys REPORT.sqlite'"));
  support::write_text(folder_.file("results.nsys-rep"), "NVTS");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("results.sqlite "), HasSubstr("results.nsys-rep &&")));
}

TEST_F(NsysExportFile, ThatIsNoneIsRefused) {
  EXPECT_THAT(refusal(), HasSubstr("does not exist. Give a file that 'nsys export --type=sqlite' wrote"));
  support::write_text(path_, "");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("is empty"), HasSubstr("--force-overwrite=true")));
  support::write_text(path_, "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_THAT(refusal(), HasSubstr("is not an SQLite database"));
  support::write_text(path_, "SQLite format 3");
  EXPECT_THAT(refusal(), HasSubstr("is not an SQLite database"));
  path_ = folder_.path();
  EXPECT_THAT(refusal(), HasSubstr("is a folder"));
  path_ = "/dev/null";
  EXPECT_THAT(refusal(), HasSubstr("is a device or a pipe"));
  path_ = folder_.file("step.nsys-rep");
  support::write_text(path_, "NVTS");
  EXPECT_THAT(refusal(), HasSubstr("is a report. First run 'nsys export --type=sqlite " + path_ + "'."));
}

TEST_F(NsysExportFile, WithoutActivityOfAGpuIsRefused) {
  { const NsysWriter writer{path_, kNewest}; }
  EXPECT_THAT(refusal(), AllOf(HasSubstr("has no activity of a GPU"), HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL"),
                               HasSubstr("(schema 3.25.0)"), HasSubstr("--trace=cuda,nvtx")));
}

TEST_F(NsysExportFile, WithoutAnOperationIsRefused) {
  {
    NsysWriter writer{path_, kNewest};
    writer.make_tables();
    writer.range(0, 1000, "forward");
  }
  EXPECT_THAT(refusal(), AllOf(HasSubstr("holds no operation of a GPU (ranges: 1, CUDA calls: 0)"),
                               HasSubstr("'nsys profile --trace=cuda,nvtx'"), HasSubstr("--capture-range")));
  try {
    static_cast<void>(read());
  } catch (const results::CorrectableError& error) {
    EXPECT_THAT(error.next(), testing::StartsWith("nsys profile --trace=cuda,nvtx "));
  }
}

TEST_F(NsysExportFile, WhoseTimesAreNoNumbersHasNoOperation) {
  write_one_step(path_, kNewest);
  change("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'a', end = 'b'; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY");
  EXPECT_THAT(refusal(), HasSubstr("CUDA calls: 7, rows that make no sense: 7)"));
}

TEST_F(NsysExportFile, WhoseKernelsAreInAnotherTableIsRefused) {
  write_one_step(path_, kNewest);
  change("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO GPU_KERNELS");
  EXPECT_THAT(refusal(),
              HasSubstr("holds 6 calls that launch kernels, and no kernel: they are not in CUPTI_ACTIVITY_"));
}

/// Views are not read. If a view replaced the table of kernels, the total would be wrong, although the other figures
/// would be right.
TEST_F(NsysExportFile, WithAViewForATableIsRefused) {
  write_one_step(path_, kNewest);
  change("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO k");
  change("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM k");
  EXPECT_THAT(refusal(),
              HasSubstr("has the view 'CUPTI_ACTIVITY_KIND_KERNEL', which no export of nsys has. Run 'nsys export"));
}

TEST_F(NsysExportFile, ALongNameIsCut) {
  write_one_step(path_, kNewest);
  change("UPDATE StringIds SET value = printf('%.*c', 5000000, 'x') WHERE value IN ('nvjet_a', 'layer.0')");
  change("UPDATE NVTX_EVENTS SET textId = NULL, text = printf('%.*c', 5000000, 'y') WHERE start = 110000");
  std::size_t longest = 0;
  for (const std::string& name : read().trace.names) longest = std::max(longest, name.size());
  EXPECT_EQ(longest, 65'536U);
}

TEST_F(NsysExportFile, MayHaveOtherViewsAndTriggers) {
  write_one_step(path_, kNewest);
  change("CREATE VIEW mine AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL");
  change("CREATE TABLE t (x INT); CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT 1; END");
  EXPECT_EQ(refusal(), "");
}

TEST_F(NsysExportFile, OfNvprofIsRefused) {
  {
    sqlite::Connection connection{path_, sqlite::Connection::Mode::kWrite, Seconds{0}};
    connection.execute("CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT)");
    connection.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, bytes INT, copyKind INT)");
    connection.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 4, 1)");
  }
  EXPECT_THAT(refusal(), HasSubstr("is of nvprof or another program: it has the table StringTable"));
}

TEST_F(NsysExportFile, OfAnotherProgramIsRefusedWithItsTables) {
  {
    sqlite::Connection connection{path_, sqlite::Connection::Mode::kWrite, Seconds{0}};
    for (const char* table : {"a", "b", "c", "d", "e"}) connection.execute(fmt::format("CREATE TABLE {} (x)", table));
  }
  EXPECT_THAT(refusal(),
              HasSubstr("it lacks the table CUPTI_ACTIVITY_KIND_KERNEL; its tables: a, b, c, d and others."));
}

TEST_F(NsysExportFile, WithoutTimesIsRefused) {
  {
    NsysWriter writer{path_, kNewest};
    writer.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, stop INT)");
  }
  EXPECT_THAT(refusal(), HasSubstr("its table CUPTI_ACTIVITY_KIND_KERNEL has no column 'end' (schema 3.25.0)"));
}

TEST_F(NsysExportFile, CutOffIsRefused) {
  write_one_step(path_, kNewest);
  const std::string whole = results::read_whole_file(path_);
  for (const double share : {0.9, 0.5, 0.2}) {
    support::write_text(path_, whole.substr(0, static_cast<std::size_t>(share * static_cast<double>(whole.size()))));
    EXPECT_THAT(refusal(), HasSubstr("is damaged, or its export was cut off")) << share;
  }
}

}  // namespace
}  // namespace tbench::profile
