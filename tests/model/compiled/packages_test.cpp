// Tests that `compiled` refuses to run without packages of the model or with damaged ones. PyTorch makes the packages,
// so complete ones, and ones for other shapes, are tested with the whole program (tests/bench/model_packages_test.py).
#include "model/compiled/packages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ModelPackages : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  /// Removes the files one by one, because LibTorch exports a remove_all() that crashes in a program with another one.
  void TearDown() override {
    for (const ModelGraph graph : {ModelGraph::kForward, ModelGraph::kTraining, ModelGraph::kBackward}) {
      std::filesystem::remove(model_package_path(config(Pass::kForward), graph));
    }
    std::filesystem::remove(folder_);
  }

  [[nodiscard]] ModelConfig config(Pass pass, Precision precision = Precision::kFp32) const {
    return {.size = builtin_model_sizes().front(),
            .context = 32,
            .batch = 2,
            .pass = pass,
            .precision = precision,
            .impl = "compiled",
            .device = DeviceKind::kCpu,
            .seed = 1,
            .packages = folder_};
  }
  static std::string reason(const ModelConfig& config) {
    return make_model_case(config)->unsupported_reason().value_or("none");
  }
  void write(ModelGraph graph, const std::string& text) const {
    std::ofstream{model_package_path(config(Pass::kForward), graph)} << text;
  }

  std::string folder_ =
      (std::filesystem::temp_directory_path() / ("tbench_model_packages_" + std::to_string(::getpid()))).string();
};

TEST_F(ModelPackages, AreNamedByWhatTheyAreFor) {
  EXPECT_EQ(model_package_path(config(Pass::kForward), ModelGraph::kForward),
            folder_ + "/model_forward_cpu_tiny_ctx32_batch2_fp32.pt2");
  EXPECT_EQ(model_package_path(config(Pass::kTrainStep, Precision::kBf16), ModelGraph::kBackward),
            folder_ + "/model_backward_cpu_tiny_ctx32_batch2_bf16.pt2");
  // TF32 is a setting of the run and needs no other package.
  EXPECT_EQ(model_package_path(config(Pass::kForward, Precision::kTf32), ModelGraph::kForward),
            model_package_path(config(Pass::kForward), ModelGraph::kForward));
}

TEST_F(ModelPackages, WithoutAFolderTheReasonSaysHowToMakeOne) {
  ModelConfig none = config(Pass::kForward);
  none.packages.clear();
  EXPECT_EQ(reason(none),
            "no packages: tools/compile_model.py --out DIR --sizes tiny --contexts 32 --batch 2 --precision fp32 "
            "--passes forward --device cpu, then --tb_packages=DIR");
}

TEST_F(ModelPackages, WithoutAPackageTheReasonNamesItAndItsCommand) {
  EXPECT_THAT(reason(config(Pass::kForward)),
              AllOf(HasSubstr("no package '" + folder_ + "/model_forward_cpu_tiny_ctx32_batch2_fp32.pt2'"),
                    HasSubstr("compile_model.py --out " + folder_ + " --sizes tiny ")));
  EXPECT_THAT(reason(config(Pass::kTrainStep)), AllOf(HasSubstr("model_training_cpu"), HasSubstr("--passes training")));
  write(ModelGraph::kTraining, "");
  EXPECT_THAT(reason(config(Pass::kTrainStep)), HasSubstr("no package '" + folder_ + "/model_backward_cpu"));
}

TEST_F(ModelPackages, ASizeOfTheUsersIsGivenWithItsExtents) {
  ModelConfig mine = config(Pass::kForward);
  mine.size = {"mine", 128, 512, 3, 4};
  EXPECT_THAT(reason(mine), HasSubstr(" --size mine:128,512,3,4 --contexts 32 "));
  mine.size = model_sizes_of(SizeGroup::kCourse2026).front();
  EXPECT_THAT(reason(mine), HasSubstr(" --size 10B:4608,12288,50,36 --contexts 32 "));
}

TEST_F(ModelPackages, HaveTheCoursesVocabularyAndTheta) {
  ModelConfig other = config(Pass::kForward);
  other.size = model_sizes_of(SizeGroup::kPublished).back();  // the leaderboard's, with plain layers
  const std::string expected = "impl:compiled has a vocabulary of 10000 and theta 10000 alone, ";
  EXPECT_THAT(reason(other), testing::StartsWith(expected));
  other.size = parse_model_size("mine:64,256,2,4,theta=500000");
  EXPECT_THAT(reason(other), testing::StartsWith(expected));
}

TEST_F(ModelPackages, ADamagedOneMakesTheCaseUnsupported) {
  write(ModelGraph::kForward, "no archive");
  const auto step = make_model_case(config(Pass::kForward));
  ASSERT_EQ(step->unsupported_reason(), std::nullopt);
  try {
    step->build();
    FAIL() << "a damaged package was loaded";
  } catch (const Unsupported& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("model_forward_cpu_tiny_ctx32_batch2_fp32.pt2"), HasSubstr("compile it again")));
  }
}

}  // namespace
}  // namespace tbench::model
