#include "tbench/core/model_size.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/error.hpp"

namespace tbench {
namespace {

using testing::ElementsAre;

ModelSize builtin(std::string_view name) {
  for (const ModelSize& size : builtin_model_sizes()) {
    if (size.name == name) return size;
  }
  throw std::out_of_range{std::string{name}};
}

std::string parse_error(const std::string& text) {
  try {
    static_cast<void>(parse_model_size(text));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
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

TEST(CourseModelSizes, AreThoseWithoutTinyAnd10B) {
  std::vector<std::string> names = course_size_names();
  EXPECT_EQ(names.size(), builtin_model_sizes().size() - 2);
  EXPECT_EQ(course_model_sizes().size(), names.size());
  EXPECT_EQ(course_model_sizes().front().d_model, 768);
  names.resize(5);
  EXPECT_THAT(names, ElementsAre("small", "medium", "large", "xl", "2.7B"));
}

TEST(BuiltinModelSizes, HaveWholeEvenHeads) {
  const std::map<std::string, std::int64_t> head_dims{{"tiny", 16},  {"small", 64}, {"medium", 64},
                                                      {"large", 64}, {"xl", 64},    {"2.7B", 80}};
  for (const auto& [name, head_dim] : head_dims) EXPECT_EQ(builtin(name).head_dim(), head_dim) << name;
  for (const ModelSize& size : builtin_model_sizes()) {
    EXPECT_EQ(size.head_dim() * size.num_heads, size.d_model) << size.name;
    EXPECT_EQ(size.head_dim() % 2, 0) << size.name;
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

TEST(ParameterCount, TakesTheVocabularyItIsGiven) {
  // 2 * 3 * 2 + 1 * (4 * 4 + 3 * 2 * 5 + 2 * 2) + 2 = 12 + 50 + 2
  EXPECT_EQ(parameter_count(ModelSize{"mini", 2, 5, 1, 1}, 3), 64);
}

TEST(ParseModelSize, ReadsNameAndFourExtents) {
  EXPECT_EQ(parse_model_size("mine:2048,8192,24,16"), (ModelSize{"mine", 2048, 8192, 24, 16}));
  EXPECT_EQ(parse_model_size("0.5B:64,100,1,32").head_dim(), 2);
}

TEST(ParseModelSize, SaysWhatIsWrong) {
  const std::string expected = "; NAME:d_model,d_ff,layers,heads, e.g. mine:2048,8192,24,16";
  const std::map<std::string, std::string> wrong{
      {"", "no name before ':'"},
      {":2048,8192,24,16", "no name before ':'"},
      {"small:2048,8192,24,16", "'small' is a built-in size"},
      {"a/b:64,64,1,1", "the name may not hold '/', ',', '=' or spaces"},
      {"a,b:64,64,1,1", "the name may not hold '/', ',', '=' or spaces"},
      {"a=b:64,64,1,1", "the name may not hold '/', ',', '=' or spaces"},
      {"a b:64,64,1,1", "the name may not hold '/', ',', '=' or spaces"},
      {"mine:2048,8192,24", "3 numbers instead of 4"},
      {"mine:2048,8192,24,16,1", "5 numbers instead of 4"},
      {"mine:", "1 numbers instead of 4"},
      {"mine:2048,,24,16", "'' is not a positive whole number"},
      {"mine:2048,8192,0,16", "'0' is not a positive whole number"},
      {"mine:-2048,8192,24,16", "'-2048' is not a positive whole number"},
      {"mine:2048,8192,24,1048577", "'1048577' is above 1048576"},
      {"mine:2k,8192,24,16", "'2k' is not a positive whole number"},
      {"mine:100,400,2,3", "d_model 100 is not a multiple of num_heads 3"},
      {"mine:63,400,2,9", "head_dim d_model / num_heads = 7 is odd, and RoPE rotates pairs"},
  };
  for (const auto& [text, what] : wrong) EXPECT_EQ(parse_error(text), "--tb_size=" + text + ": " + what + expected);
}

TEST(ParseModelSize, SaysWhatIsMeantByAnotherForm) {
  const std::string not_form = "not NAME:d_model,d_ff,num_layers,num_heads; did you mean 'a:2048,8192,24,16'?";
  const std::map<std::string, std::string> wrong{
      {"small", "'small' is a built-in size; --benchmark_filter=size:small/ selects its cases"},
      {"2048,8192,24,16", "no name; did you mean 'mine:2048,8192,24,16'?"},
      {"2048x8192x24x16", "no name; did you mean 'mine:2048,8192,24,16'?"},
      {"a=2048,8192,24,16", not_form},
      {"a,2048,8192,24,16", not_form},
      {"a:2048x8192x24x16", not_form},
      {"a:2048:8192:24:16", not_form},
  };
  for (const auto& [text, what] : wrong) EXPECT_EQ(parse_error(text), "--tb_size=" + text + ": " + what);
}

TEST(ParseModelSize, HasAnExampleWithTheNameThatWasGiven) {
  const std::string expected = "only a name; NAME:d_model,d_ff,layers,heads, e.g. ";
  EXPECT_EQ(parse_error("7b"), "--tb_size=7b: " + expected + "7b:4096,11008,32,32");
  EXPECT_EQ(parse_error("70b"), "--tb_size=70b: " + expected + "70b:8192,28672,80,64");
  EXPECT_EQ(parse_error("7b:4096"),
            "--tb_size=7b:4096: 1 numbers instead of 4; NAME:d_model,d_ff,layers,heads, e.g. 7b:4096,11008,32,32");
  EXPECT_EQ(parse_error("mine"), "--tb_size=mine: " + expected + "mine:2048,8192,24,16");
  for (const char* const example : {"7b:4096,11008,32,32", "13B:5120,13824,40,40", "70B:8192,28672,80,64"}) {
    EXPECT_NO_THROW(static_cast<void>(parse_model_size(example)));
  }
}

}  // namespace
}  // namespace tbench
