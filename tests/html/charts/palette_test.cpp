#include "html/charts/palette.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

namespace tbench::html {
namespace {

using testing::SizeIs;

TEST(ColourSlots, AreTheSameOnEveryPage) {
  const auto alone = colour_slots({"flash"});
  const auto among = colour_slots({"compiled", "eager", "flash", "mine", "sdpa"});
  EXPECT_EQ(alone.at("flash"), among.at("flash"));
  EXPECT_EQ(among.at("eager"), colour_slots({"naive"}).at("naive")) << "operations of ATen one by one";
}

TEST(ColourSlots, TellAFamilysImplementationsApart) {
  std::ifstream cases{TBENCH_TEST_DATA "/cases_full.txt"};
  std::map<std::string, std::set<std::string>> families;
  for (std::string name; std::getline(cases, name);) {
    const CaseId id = CaseId::parse(name);
    if (const std::string* const implementation = implementation_of(id)) families[id.family()].insert(*implementation);
  }
  ASSERT_THAT(families["Attention"], SizeIs(6));
  ASSERT_THAT(families["Gemm"], SizeIs(3));
  for (const auto& [family, implementations] : families) {
    std::set<std::size_t> slots;
    for (const auto& [name, slot] : colour_slots(implementations)) slots.insert(slot);
    EXPECT_EQ(slots.size(), implementations.size()) << family;
  }
}

TEST(ColourSlots, OfUnknownNamesAreFreeOnes) {
  const auto slots = colour_slots({"eager", "flash", "mine", "theirs", "yours"});
  std::set<std::size_t> different;
  for (const auto& [name, slot] : slots) {
    EXPECT_LT(slot, kColourSlots) << name;
    different.insert(slot);
  }
  EXPECT_THAT(different, SizeIs(5));
  EXPECT_EQ(slots, colour_slots({"eager", "flash", "mine", "theirs", "yours"}));
}

TEST(ColourSlots, OfMoreNamesThanThereAreRepeat) {
  std::set<std::string> names;
  for (int i = 0; i < 25; ++i) names.insert("impl" + std::to_string(i));
  std::set<std::size_t> slots;
  for (const auto& [name, slot] : colour_slots(names)) slots.insert(slot);
  EXPECT_THAT(slots, SizeIs(kColourSlots));
}

TEST(ImplementationOf, IsImplOrMethod) {
  EXPECT_EQ(*implementation_of(CaseId::parse("Model/impl:sdpa")), "sdpa");
  EXPECT_EQ(*implementation_of(CaseId::parse("Accumulation/method:kahan")), "kahan");
  EXPECT_EQ(implementation_of(CaseId::parse("Ceiling/what:copy")), nullptr);
}

}  // namespace
}  // namespace tbench::html
