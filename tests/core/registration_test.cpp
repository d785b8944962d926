#include "tbench/core/registration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace tbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Entry {
  std::string name;
  int order{};
  int (*make)(){};
};

int seven() { return 7; }

TBENCH_REGISTER(Entry, {.name = "last", .order = 30});
TBENCH_REGISTER(Entry, {.name = "b", .order = 20, .make = &seven});
TBENCH_REGISTER(Entry, {.name = "a", .order = 20});
TBENCH_REGISTER(Entry, {.name = "z", .order = 10});

TEST(Registered, EntriesComeByOrderAndThenByName) {
  std::vector<std::string> names;
  for (const Entry& entry : Registered<Entry>::sorted()) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("z", "a", "b", "last"));
  EXPECT_EQ(Registered<Entry>::sorted().at(2).make(), 7);
}

struct Twin {
  std::string name;
  int order{};
};

TBENCH_REGISTER(Twin, {.name = "same", .order = 10});
TBENCH_REGISTER(Twin, {.name = "other", .order = 20});
TBENCH_REGISTER(Twin, {.name = "same", .order = 30});

TEST(Registered, TwoEntriesOfOneNameAreRefused) {
  try {
    static_cast<void>(Registered<Twin>::sorted());
    FAIL() << "nothing was thrown";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'same' is registered twice"));
  }
}

struct Nothing {
  std::string name;
  int order{};
};

TEST(Registered, WithoutEntriesThereAreNone) { EXPECT_TRUE(Registered<Nothing>::sorted().empty()); }

}  // namespace
}  // namespace tbench
