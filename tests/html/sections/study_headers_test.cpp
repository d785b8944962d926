#include "html/sections/section_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbench::html {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(StudyHeaders, HaveKeysAndThenAQuantity) {
  const StudyQuantity quantity = quantity_of("ctx:512 impl:flash forward ms");
  EXPECT_THAT(quantity.keys, ElementsAre(Pair("ctx", "512"), Pair("impl", "flash")));
  EXPECT_EQ(quantity.name, "forward ms");
  EXPECT_EQ(quantity_of("impl:sdpa exec:graph").name, "");
  EXPECT_THAT(quantity_of("first: loading ms").keys, IsEmpty()) << "a colon at the end of a word does not end a key";
  EXPECT_EQ(quantity_of("first: loading ms").name, "first: loading ms");
}

TEST(StudyHeaders, SayWhatFollowsFromOthers) {
  for (const char* name : {"speed-up", "forward change %", "exponent of ctx", "std ms"}) EXPECT_TRUE(is_derived(name));
  for (const char* name : {"", "ms", "forward ms", "held MiB"}) EXPECT_FALSE(is_derived(name)) << name;
}

TEST(StudyHeaders, CaptionsSayWhatNoHeaderDoes) {
  EXPECT_EQ(quantity_of_caption("Model batch:4. Median ms by context; time ~ ctx^exponent"), "Median ms");
  EXPECT_EQ(quantity_of_caption("Model size:2.7B. Peak allocated MiB; of graphs"), "Peak allocated MiB");
  EXPECT_EQ(quantity_of_caption("ms"), "ms");
}

TEST(StudyHeaders, NamesAreValuesAndNumbersHaveTheirKey) {
  const StudyKeys keys{{"size", "small"}, {"ctx", "512"}, {"impl", "sdpa"}};
  EXPECT_EQ(joined(keys), "small ctx 512 sdpa");
  EXPECT_EQ(joined(keys, {"impl", "size"}), "small sdpa");
  EXPECT_EQ(value_of(keys, "ctx"), "512");
  EXPECT_EQ(value_of(keys, "pass"), "");
}

}  // namespace
}  // namespace tbench::html
