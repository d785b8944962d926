// Tests the text of a size: what is read, what is refused, and that it is written as it is read.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tbench/core/error.hpp"
#include "tbench/core/model_size.hpp"

namespace tbench {
namespace {

std::string parse_error(const std::string& text) {
  try {
    static_cast<void>(parse_model_size(text));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ParseModelSize, ReadsNameAndFourExtents) {
  EXPECT_EQ(parse_model_size("mine:2048,8192,24,16"), (ModelSize{"mine", 2048, 8192, 24, 16}));
  EXPECT_EQ(parse_model_size("0.5B:64,100,1,32").head_dim(), 2);
}

TEST(ParseModelSize, ReadsKeysAndFlagsInAnyOrder) {
  const ModelSize size =
      parse_model_size("mine:1024,3072,28,16,tied,theta=1e6,head_dim=128,vocab=151936,qk_norm,kv_heads=8");
  EXPECT_EQ(size.kv_heads(), 8);
  EXPECT_EQ(size.head_dim(), 128);
  EXPECT_EQ(size.q_width(), 2048);
  EXPECT_EQ(size.kv_width(), 1024);
  EXPECT_EQ(size.vocab_size, 151936);
  EXPECT_EQ(size.rope_theta, 1e6);
  EXPECT_TRUE(size.tied);
  EXPECT_TRUE(size.qk_norm);
}

TEST(ParseModelSize, ADefaultSpelledOutIsTheSameSize) {
  EXPECT_EQ(parse_model_size("a:64,256,2,4,kv_heads=4,head_dim=16,vocab=10000,theta=10000"),
            parse_model_size("a:64,256,2,4"));
}

TEST(ParseModelSize, AHeadDimFreesDModelFromTheHeads) {
  EXPECT_EQ(parse_model_size("a:100,400,2,3,head_dim=32").q_width(), 96);
}

TEST(ExtentsText, IsReadAsTheSameSize) {
  for (const char* const text : {"2048,8192,24,16", "4096,14336,32,32,kv_heads=8,vocab=128256,theta=500000",
                                 "1024,3072,28,16,kv_heads=8,head_dim=128,vocab=151936,theta=1000000,tied,qk_norm"}) {
    EXPECT_EQ(extents_text(parse_model_size(std::string{"a:"} + text)), text);
  }
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
      {"mine:2048,8192,24,tied", "3 numbers instead of 4"},
      {"mine:64,64,1,4,kv_heads=3", "kv_heads 3 do not divide num_heads 4"},
      {"mine:64,64,1,4,kv_heads=8", "kv_heads 8 do not divide num_heads 4"},
      {"mine:64,64,1,4,kv_heads=", "'' is not a positive whole number"},
      {"mine:64,64,1,4,head_dim=15", "head_dim 15 is odd, and RoPE rotates pairs"},
      {"mine:64,64,1,4,vocab=0", "'0' is not a positive whole number"},
      {"mine:64,64,1,4,theta=hot", "theta 'hot' is not a number from 1 to 1e+12"},
      {"mine:64,64,1,4,theta=nan", "theta 'nan' is not a number from 1 to 1e+12"},
      {"mine:64,64,1,4,tied,tied", "'tied' is given twice"},
      {"mine:64,64,1,4,tied=1", "'tied=1' is none of kv_heads=, head_dim=, vocab=, theta=, tied, qk_norm"},
      {"mine:64,64,1,4,window=8", "'window=8' is none of kv_heads=, head_dim=, vocab=, theta=, tied, qk_norm"},
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
  EXPECT_EQ(parse_error("70b"), "--tb_size=70b: " + expected + "70b:8192,28672,80,64,kv_heads=8");
  EXPECT_EQ(parse_error("7b:4096"),
            "--tb_size=7b:4096: 1 numbers instead of 4; NAME:d_model,d_ff,layers,heads, e.g. 7b:4096,11008,32,32");
  EXPECT_EQ(parse_error("mine"), "--tb_size=mine: " + expected + "mine:2048,8192,24,16");
  for (const char* const example : {"7b:4096,11008,32,32", "13B:5120,13824,40,40", "70B:8192,28672,80,64,kv_heads=8"}) {
    EXPECT_NO_THROW(static_cast<void>(parse_model_size(example)));
  }
}

}  // namespace
}  // namespace tbench
