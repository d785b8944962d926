#include "tbench/results/companion_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::results {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PytorchTimes, AreReadInTheFilesOrder) {
  const support::TemporaryFolder folder;
  support::write_text(folder.file("p.json"), R"({"Model/size:xl": {"median_ms": 2.5, "samples": 20},
                                                 "Ceiling/what:copy": {"median_ms": 0.5, "per_second": 4e12}})");
  const std::vector<PytorchTime> times = read_pytorch_times(folder.file("p.json"));
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].id.name(), "Model/size:xl");
  EXPECT_EQ(times[0].median_ms, 2.5);
  EXPECT_FALSE(times[0].per_second.has_value());
  EXPECT_EQ(times[1].per_second, 4e12);
}

TEST(PytorchTimes, RefusesOtherFiles) {
  const support::TemporaryFolder folder;
  support::write_text(folder.file("p.json"), R"({"Model/size:xl": {"mean_ms": 2.5}})");
  EXPECT_THAT(error_of([&] { static_cast<void>(read_pytorch_times(folder.file("p.json"))); }),
              AllOf(HasSubstr("p.json"), HasSubstr("median_ms"), HasSubstr("time_pytorch_model.py")));
}

TEST(NcuTimes, AreReadAndOtherFilesRefused) {
  const support::TemporaryFolder folder;
  support::write_text(
      folder.file("n.json"),
      R"({"case": "Model/size:xl", "kernels": [{"symbol": "_Z1kv", "launches": 4, "total_us": 10.5}]})");
  const NcuTimes times = read_ncu_times(folder.file("n.json"));
  EXPECT_EQ(times.id.name(), "Model/size:xl");
  ASSERT_EQ(times.kernels.size(), 1U);
  EXPECT_EQ(times.kernels[0].symbol, "_Z1kv");
  EXPECT_EQ(times.kernels[0].launches, 4);
  EXPECT_EQ(times.kernels[0].total_us, 10.5);
  support::write_text(folder.file("n.json"), R"({"case": "Model/size:xl"})");
  EXPECT_THAT(error_of([&] { static_cast<void>(read_ncu_times(folder.file("n.json"))); }),
              AllOf(HasSubstr("n.json"), HasSubstr("kernels"), HasSubstr("ncu_kernel_times.py")));
}

TEST(SelfComparison, IsReadCaseByCase) {
  const support::TemporaryFolder folder;
  support::write_text(folder.file("v.json"), R"({"passed": true, "cases": [{"case": "Model/size:xl", "factor": 1.03,
      "aa_verdict": "SAME", "aa_ratio": 1.001, "ab_verdict": "SAME", "ab_ratio": 0.999,
      "planted_outcome": "REGRESSED", "planted_ratio": 1.029, "finds": 0.01}]})");
  const std::vector<SelfComparison> cases = read_self_comparison(folder.file("v.json"));
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].same.ratio, 1.001);
  EXPECT_EQ(cases[0].other.ratio, 0.999);
  EXPECT_EQ(cases[0].planted.outcome, "REGRESSED");
  EXPECT_EQ(cases[0].factor, 1.03);
  EXPECT_EQ(cases[0].detectable, 0.01);
  support::write_text(folder.file("v.json"), R"({"passed": true})");
  EXPECT_THAT(error_of([&] { static_cast<void>(read_self_comparison(folder.file("v.json"))); }),
              HasSubstr("aa_check.py"));
}

/// Makes a folder with one results file, one other file, and a manifest that lists both.
class ManifestTest : public testing::Test {
 protected:
  ManifestTest() {
    std::filesystem::create_directory(folder_.file("model"));
    write_result_file(folder_.file("model/a.json.gz"), support::golden_file());
    support::write_text(folder_.file("other.json"), "{}");
  }
  std::string error_of_manifest(const std::string& machine, const std::string& build,
                                const std::string& file = "model/a.json.gz") {
    support::write_text(folder_.file("manifest.json"),
                        R"({"files": [{"file": ")" + file + R"(", "what": "all", "machine": ")" + machine +
                            R"(", "build": ")" + build +
                            R"("}, {"file": "other.json", "what": "else", "machine": "0000"}]})");
    return error_of([&] { files_ = read_manifest(folder_.file("manifest.json")); });
  }
  support::TemporaryFolder folder_;
  std::vector<ManifestEntry> files_;
  const Environment environment_ = support::golden_file().environment;
};

TEST_F(ManifestTest, AgreesWithItsFolder) {
  const std::string build = build_name(environment_);
  ASSERT_EQ(error_of_manifest("0000", build), "no error");
  ASSERT_EQ(files_.size(), 2U);
  EXPECT_EQ(files_[0].build, build);
  EXPECT_EQ(files_[1].what, "else");
  EXPECT_FALSE(files_[1].build.has_value());
}

TEST_F(ManifestTest, NamesWhatDiffers) {
  const std::string build = build_name(environment_);
  EXPECT_THAT(error_of_manifest("fa6f", build),
              AllOf(HasSubstr("model/a.json.gz"), HasSubstr("machine fa6f, the file was made on 0000")));
  EXPECT_THAT(error_of_manifest("0000", "zzz"), HasSubstr("build zzz"));
  EXPECT_THAT(error_of_manifest("0000", build.substr(0, 6)), HasSubstr("the file was made by " + build))
      << "a part of the name is another: it may lack -dirty";
  EXPECT_THAT(error_of_manifest("0000", build, "model/b.json.gz"), HasSubstr("model/b.json.gz"));
  write_result_file(folder_.file("model/new.json.gz"), support::golden_file());
  EXPECT_THAT(error_of_manifest("0000", build), HasSubstr("model/new.json.gz is not in it"));
}

}  // namespace
}  // namespace tbench::results
