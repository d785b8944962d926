#include "tbench/core/model_size.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tbench {
namespace {

using testing::ElementsAre;

ModelSize builtin(std::string_view name) {
  for (const ModelSize& size : builtin_model_sizes()) {
    if (size.name == name) return size;
  }
  throw std::out_of_range{std::string{name}};
}

// Further sizes come after these.
TEST(BuiltinModelSizes, BeginWithTheCoursesAndTinyInFront) {
  const auto sizes = builtin_model_sizes();
  ASSERT_GE(sizes.size(), 6U);
  EXPECT_EQ(sizes[0].name, "tiny");
  EXPECT_EQ(sizes[1], (ModelSize{"small", 768, 3072, 12, 12}));
  EXPECT_EQ(sizes[2], (ModelSize{"medium", 1024, 4096, 24, 16}));
  EXPECT_EQ(sizes[3], (ModelSize{"large", 1280, 5120, 36, 20}));
  EXPECT_EQ(sizes[4], (ModelSize{"xl", 1600, 6400, 48, 25}));
  EXPECT_EQ(sizes[5], (ModelSize{"2.7B", 2560, 10240, 32, 32}));
}

std::vector<std::string> names_of(SizeGroup group) {
  std::vector<std::string> names;
  for (const ModelSize& size : model_sizes_of(group)) names.push_back(size.name);
  return names;
}

TEST(CourseModelSizes, AreNeitherTinyNor10BNorPublished) {
  std::vector<std::string> names = course_size_names();
  EXPECT_EQ(names, names_of(SizeGroup::kCourse));
  EXPECT_EQ(course_model_sizes().size(), names.size());
  EXPECT_EQ(course_model_sizes().front().d_model, 768);
  names.resize(5);
  EXPECT_THAT(names, ElementsAre("small", "medium", "large", "xl", "2.7B"));
}

TEST(ModelSizesOf, AGroupAreItsSizesInOrder) {
  EXPECT_THAT(names_of(SizeGroup::kTest), ElementsAre("tiny"));
  EXPECT_THAT(names_of(SizeGroup::kCourse2026), ElementsAre("10B"));
  EXPECT_THAT(names_of(SizeGroup::kPublished), ElementsAre("llama3.2-1B", "llama3.2-3B", "llama3.1-8B", "qwen3-0.6B",
                                                           "qwen3-1.7B", "qwen3-4B", "qwen3-8B", "cs336-leaderboard"));
}

TEST(BuiltinModelSizes, HaveWholeEvenHeads) {
  const std::map<std::string, std::int64_t> head_dims{{"tiny", 16},  {"small", 64}, {"medium", 64},
                                                      {"large", 64}, {"xl", 64},    {"2.7B", 80}};
  for (const auto& [name, head_dim] : head_dims) EXPECT_EQ(builtin(name).head_dim(), head_dim) << name;
  for (const ModelSize& size : builtin_model_sizes()) {
    // Qwen3's smaller models have wider heads than d_model / num_heads.
    EXPECT_TRUE(size.own_head_dim > 0 || size.q_width() == size.d_model) << size.name;
    EXPECT_EQ(size.head_dim() % 2, 0) << size.name;
    EXPECT_EQ(size.num_heads % size.kv_heads(), 0) << size.name;
  }
}

// Parameters: 2 * 10,000 * d + layers * (4 * d * d + 3 * d * d_ff + 2 * d) + d.
TEST(ParameterCount, IsThatOfTheStudiesToTheParameter) {
  // tiny: 1,280,000 + 2 * (16,384 + 49,152 + 128) + 64
  EXPECT_EQ(parameter_count(builtin("tiny")), 1'411'392);
  // small: 15,360,000 + 12 * (2,359,296 + 7,077,888 + 1,536) + 768 = 15,360,000 + 113,264,640 + 768
  EXPECT_EQ(parameter_count(builtin("small")), 128'625'408);
  // medium: 20,480,000 + 24 * (4,194,304 + 12,582,912 + 2,048) + 1,024 = 20,480,000 + 402,702,336 + 1,024
  EXPECT_EQ(parameter_count(builtin("medium")), 423'183'360);
  // large: 25,600,000 + 36 * (6,553,600 + 19,660,800 + 2,560) + 1,280 = 25,600,000 + 943,810,560 + 1,280
  EXPECT_EQ(parameter_count(builtin("large")), 969'411'840);
  // xl: 32,000,000 + 48 * (10,240,000 + 30,720,000 + 3,200) + 1,600 = 32,000,000 + 1,966,233,600 + 1,600
  EXPECT_EQ(parameter_count(builtin("xl")), 1'998'235'200);
  // 2.7B: 51,200,000 + 32 * (26,214,400 + 78,643,200 + 5,120) + 2,560 = 51,200,000 + 3,355,607,040 + 2,560
  EXPECT_EQ(parameter_count(builtin("2.7B")), 3'406'809'600);
}

TEST(ParameterCount, TakesTheSizesVocabulary) {
  // 2 * 3 * 2 + 1 * (4 * 4 + 3 * 2 * 5 + 2 * 2) + 2 = 12 + 50 + 2
  EXPECT_EQ(
      parameter_count({.name = "mini", .d_model = 2, .d_ff = 5, .num_layers = 1, .num_heads = 1, .vocab_size = 3}), 64);
}

// The published checkpoints have these numbers. The leaderboard has none: two tables of 151,936 x 4,096, 34 layers of 4
// matrices of 4,096 x 4,096, 3 of 4,096 x 11,008 and two norms of 4,096, and a norm.
TEST(ParameterCount, IsThatOfPublishedModels) {
  const std::map<std::string, std::int64_t> published{
      {"llama3.2-1B", 1'235'814'400}, {"llama3.2-3B", 3'212'749'824},       {"llama3.1-8B", 8'030'261'248},
      {"qwen3-0.6B", 596'049'920},    {"qwen3-1.7B", 1'720'574'976},        {"qwen3-4B", 4'022'468'096},
      {"qwen3-8B", 8'190'735'360},    {"cs336-leaderboard", 8'125'698'048}, {"10B", 12'832'823'808}};
  for (const auto& [name, count] : published) EXPECT_EQ(parameter_count(builtin(name)), count) << name;
  EXPECT_EQ(published.size(), model_sizes_of(SizeGroup::kPublished).size() + 1);
}

// Forms that do not change the number of parameters, or only with others.
TEST(BuiltinModelSizes, HaveThePublishedForms) {
  const std::map<std::string, std::string> texts{
      {"llama3.2-1B", "2048,8192,16,32,kv_heads=8,vocab=128256,theta=500000,tied"},
      {"llama3.2-3B", "3072,8192,28,24,kv_heads=8,vocab=128256,theta=500000,tied"},
      {"llama3.1-8B", "4096,14336,32,32,kv_heads=8,vocab=128256,theta=500000"},
      {"qwen3-0.6B", "1024,3072,28,16,kv_heads=8,head_dim=128,vocab=151936,theta=1000000,tied,qk_norm"},
      {"qwen3-1.7B", "2048,6144,28,16,kv_heads=8,vocab=151936,theta=1000000,tied,qk_norm"},
      {"qwen3-4B", "2560,9728,36,32,kv_heads=8,head_dim=128,vocab=151936,theta=1000000,tied,qk_norm"},
      {"qwen3-8B", "4096,12288,36,32,kv_heads=8,vocab=151936,theta=1000000,qk_norm"},
      {"cs336-leaderboard", "4096,11008,34,32,vocab=151936"}};
  for (const ModelSize& size : model_sizes_of(SizeGroup::kPublished)) {
    EXPECT_EQ(extents_text(size), texts.at(size.name)) << size.name;
    ModelSize parsed = parse_model_size("a:" + texts.at(size.name));
    parsed.name = size.name;
    parsed.group = size.group;
    EXPECT_EQ(parsed, size);
  }
}

TEST(ModelSize, KnowsWhetherItsLayersAreTheCourses) {
  for (const ModelSize& size : course_model_sizes()) EXPECT_TRUE(size.has_plain_layers()) << size.name;
  for (const char* const name : {"tiny", "10B", "cs336-leaderboard"}) {
    EXPECT_TRUE(builtin(name).has_plain_layers()) << name;
  }
  for (const char* const name : {"llama3.2-1B", "llama3.1-8B", "qwen3-0.6B", "qwen3-8B"}) {
    EXPECT_FALSE(builtin(name).has_plain_layers()) << name;
  }
  EXPECT_TRUE(parse_model_size("a:64,64,1,4,vocab=7,theta=500000").has_plain_layers());
  for (const char* const form : {"kv_heads=2", "head_dim=8", "tied", "qk_norm"}) {
    EXPECT_FALSE(parse_model_size(std::string{"a:64,64,1,4,"} + form).has_plain_layers()) << form;
  }
}

}  // namespace
}  // namespace tbench
