#include "compare/said_of_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbench::compare {
namespace {

using testing::ElementsAre;

TEST(SaidOfFiles, TheSameOfSeveralIsSaidOnce) {
  EXPECT_THAT(said_once({"'a.json': cut", "'b.json': cut", "'a.json': slow"}, {"'c.json': cut"}),
              ElementsAre("'a.json' and 2 others: cut", "'a.json': slow"));
  EXPECT_THAT(said_once({"'a.json': cut"}, {"'b.json': cut"}), ElementsAre("'a.json' and 1 other: cut"));
}

TEST(SaidOfFiles, AFileThatIsNamedTwiceIsOne) {
  EXPECT_THAT(said_once({"'a.json': cut"}, {"'a.json': cut"}), ElementsAre("'a.json': cut"));
}

TEST(SaidOfFiles, WhatIsSaidOfNoFileStays) {
  EXPECT_THAT(said_once({"the sides differ", "'a': b"}, {"the sides differ"}),
              ElementsAre("the sides differ", "'a': b", "the sides differ"));
}

}  // namespace
}  // namespace tbench::compare
