// Tests the expansion of case tables and the user's changes to them, with two small families defined here. The names of
// the program's own cases are pinned in tests/bench/families.
#include "tbench/core/case_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/core/error.hpp"

namespace tbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

std::optional<std::string> odd_context_of_large(const CaseId& id) {
  if (id.family() == "Model" && id.at("size") == "large" && id.int_at("ctx") % 2 != 0) return "large needs an even ctx";
  return std::nullopt;
}

std::vector<FamilySpec> families() {
  FamilySpec model{.name = "Model",
                   .keys = {{"size", {"small", "large"}}, {"ctx", {}}},
                   .tables = {{"course", Suite::kStandard, true, {{"size", {"small", "large"}}, {"ctx", {"8", "16"}}}},
                              {"fixed", Suite::kStandard, false, {{"size", {"small"}}, {"ctx", {"16", "32"}}}},
                              {"smoke", Suite::kSmoke, true, {{"size", {"small"}}, {"ctx", {"4"}}}}},
                   .invalid_reason = odd_context_of_large};
  FamilySpec gemm{.name = "Gemm",
                  .keys = {{"m", {}}},
                  .tables = {{"square", Suite::kStandard, true, {{"m", {"64"}}}}},
                  .invalid_reason = {}};
  return {model, gemm};
}

std::vector<std::string> names_of(Suite suite, const std::vector<std::string>& changes = {}) {
  std::vector<AxisOverride> overrides;
  for (const std::string& change : changes) overrides.push_back(parse_axis_override(change));
  std::vector<std::string> names;
  for (const CaseId& id : expand(families(), suite, overrides)) names.push_back(id.name());
  return names;
}

template <class Call>
std::string usage_error_of(const Call& call) {
  try {
    static_cast<void>(call());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(CaseTables, PassOverWhatTheFamilySays) {
  std::vector<FamilySpec> some = families();
  some[0].is_passed_over = [](const CaseId& id) { return id.at("size") == "large" && id.int_at("ctx") != 16; };
  std::vector<std::string> names;
  const std::vector<AxisOverride> wider{parse_axis_override("Model.ctx=15,16")};  // 15 would be refused for `large`
  for (const CaseId& id : expand(some, Suite::kStandard, wider)) names.push_back(id.name());
  EXPECT_THAT(names, ElementsAre("Model/size:small/ctx:15", "Model/size:small/ctx:16", "Model/size:large/ctx:16",
                                 "Model/size:small/ctx:32", "Gemm/m:64"));
}

std::string expand_error(const std::string& change) {
  return usage_error_of([&] { return names_of(Suite::kStandard, {change}); });
}

std::string parse_error(std::string_view text) {
  return usage_error_of([&] { return parse_axis_override(text); });
}

TEST(SuiteTest, NamesGoBothWays) {
  EXPECT_EQ(to_string(Suite::kSmoke), "smoke");
  EXPECT_EQ(to_string(Suite::kStandard), "standard");
  EXPECT_EQ(to_string(Suite::kFull), "full");
  for (const Suite suite : {Suite::kSmoke, Suite::kStandard, Suite::kFull}) {
    EXPECT_EQ(parse_enum<Suite>(to_string(suite)), suite);
  }
  EXPECT_EQ(parse_enum<Suite>("Full"), std::nullopt);
  EXPECT_EQ(parse_enum<Suite>(""), std::nullopt);
}

TEST(RegimeOfTest, IsTheFamilysUnlessTheCaseSaysItself) {
  const FamilySpec steps{.name = "Model", .keys = {}, .tables = {}, .invalid_reason = {}};
  const FamilySpec bursts{.name = "Model", .keys = {}, .tables = {}, .invalid_reason = {}, .regime = Regime::kBurst};
  const CaseId plain{"Model", {{"ctx", "8"}}};
  EXPECT_EQ(regime_of(steps, plain), Regime::kSustained);
  EXPECT_EQ(regime_of(bursts, plain), Regime::kBurst);
  EXPECT_EQ(regime_of(steps, CaseId{"Model", {{"ctx", "8"}, {"regime", "burst"}}}), Regime::kBurst);
  EXPECT_EQ(regime_of(bursts, CaseId{"Model", {{"regime", "sustained"}}}), Regime::kSustained);
  EXPECT_THROW(static_cast<void>(regime_of(steps, CaseId{"Model", {{"regime", "bursts"}}})), std::bad_optional_access);
}

TEST(ExpandTest, LastAxisVariesFastestAndTablesFollowEachOther) {
  EXPECT_THAT(names_of(Suite::kStandard), ElementsAre("Model/size:small/ctx:8", "Model/size:small/ctx:16",  //
                                                      "Model/size:large/ctx:8", "Model/size:large/ctx:16",  //
                                                      "Model/size:small/ctx:32",  // of `fixed`: its ctx:16 came before
                                                      "Gemm/m:64"));
}

TEST(ExpandTest, TakesTheTablesOfItsSuiteAndFullThoseOfStandardToo) {
  EXPECT_THAT(names_of(Suite::kSmoke), ElementsAre("Model/size:small/ctx:4"));
  EXPECT_EQ(names_of(Suite::kFull), names_of(Suite::kStandard)) << "it has no table of its own here";
  EXPECT_THAT(names_of(Suite::kStandard), Not(IsEmpty()));
}

TEST(ExpandTest, OverrideReplacesTheCourseGridAndLeavesFixedShapes) {
  EXPECT_THAT(names_of(Suite::kStandard, {"Model.ctx=64,12"}),
              ElementsAre("Model/size:small/ctx:64", "Model/size:small/ctx:12",  // in the user's order
                          "Model/size:large/ctx:64", "Model/size:large/ctx:12",  //
                          "Model/size:small/ctx:16", "Model/size:small/ctx:32", "Gemm/m:64"));
}

TEST(ExpandTest, OverridesOfSeveralAxesCombine) {
  EXPECT_THAT(names_of(Suite::kSmoke, {"Model.ctx=2,6", "Model.size=large", "Gemm.m=1"}),
              ElementsAre("Model/size:large/ctx:2", "Model/size:large/ctx:6"));
}

TEST(ExpandTest, ANameLeavesOutTheValueThatItsAxisDoesNotName) {
  const std::vector<FamilyGrid> grids{
      {"Model", {{"size", {"small"}}, {"exec", {"stream", "graph"}, "stream"}}},
      {"Model", {{"size", {"small"}}, {"exec", {"stream"}, "stream"}}},
  };
  std::vector<std::string> names;
  for (const CaseId& id : cells_of(grids, {})) names.push_back(id.name());
  EXPECT_THAT(names, ElementsAre("Model/size:small", "Model/size:small/exec:graph"));
  const std::vector<AxisOverride> graph_alone{parse_axis_override("Model.exec=graph")};
  const std::vector<CaseId> changed = cells_of(grids, graph_alone);
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed.front().name(), "Model/size:small/exec:graph");
}

TEST(ExpandTest, ValuesGivenTwiceCountOnce) {
  EXPECT_THAT(names_of(Suite::kSmoke, {"Model.ctx=2,2,4"}),
              ElementsAre("Model/size:small/ctx:2", "Model/size:small/ctx:4"));
}

TEST(ExpandTest, RefusesUnknownFamilies) {
  EXPECT_EQ(expand_error("Modl.ctx=8"), "--tb_axis: no family 'Modl'; did you mean 'Model'?");
  EXPECT_EQ(expand_error("Attention.ctx=8"), "--tb_axis: no family 'Attention' (families: Model, Gemm)");
}

TEST(ExpandTest, RefusesUnknownAxes) {
  EXPECT_EQ(expand_error("Model.ctxt=8"), "--tb_axis: family Model has no axis 'ctxt'; did you mean 'ctx'?");
  EXPECT_EQ(expand_error("Model.=8"), "--tb_axis: family Model has no axis '' (axes: size, ctx)");
  EXPECT_EQ(expand_error("Gemm.ctx=8"), "--tb_axis: family Gemm has no axis 'ctx' (axes: m)");
}

TEST(ExpandTest, RefusesUnknownValues) {
  EXPECT_EQ(expand_error("Model.size=small,lage"), "--tb_axis=Model.size: unknown value 'lage'; did you mean 'large'?");
  EXPECT_EQ(expand_error("Model.size=gigantic"),
            "--tb_axis=Model.size: unknown value 'gigantic' (values: small, large)");
}

TEST(ExpandTest, RefusesWhatIsNoPositiveWholeNumber) {
  for (const std::string value : {"0", "-8", "0k", "1.5", " 8", "99999999999999999999"}) {
    EXPECT_EQ(expand_error("Model.ctx=8," + value),
              "--tb_axis=Model.ctx: '" + value + "' is not a positive whole number");
  }
  const std::vector<std::pair<std::string, std::string>> meant{{"8k", "8192"}, {"1e3", "1000"}, {"008", "8"}};
  for (const auto& [value, number] : meant) {
    EXPECT_EQ(expand_error("Model.ctx=" + value),
              "--tb_axis=Model.ctx: '" + value + "' is not a positive whole number; did you mean '" + number + "'?");
  }
}

TEST(ExpandTest, RefusesWhatWouldOverflowInProducts) {
  EXPECT_EQ(expand_error("Model.ctx=2147483649"), "--tb_axis=Model.ctx: '2147483649' is above 2147483648");
}

TEST(ExpandTest, RefusesCombinationsThatMakeNoSense) {
  EXPECT_EQ(expand_error("Model.ctx=7"), "Model/size:large/ctx:7: large needs an even ctx");
}

TEST(ExpandTest, ChecksOverridesEvenWhereTheSuiteHasNoSuchTable) {
  EXPECT_EQ(usage_error_of([] { return names_of(Suite::kFull, {"Model.size=lage"}); }),
            "--tb_axis=Model.size: unknown value 'lage'; did you mean 'large'?");
}

std::vector<FamilyGrid> grids() {
  return {{"Model", {{"size", {"small"}}, {"ctx", {"8", "16"}}}},
          {"Model", {{"size", {"small", "large"}}, {"ctx", {"16"}}}}};
}

std::vector<std::string> names_of(const std::vector<CaseId>& cases) {
  std::vector<std::string> names;
  for (const CaseId& id : cases) names.push_back(id.name());
  return names;
}

TEST(ExpandGridsTest, GivesTheCellsOfAllGridsOnce) {
  const auto expected = ElementsAre("Model/size:small/ctx:8", "Model/size:small/ctx:16", "Model/size:large/ctx:16");
  EXPECT_THAT(names_of(expand(families(), grids(), {})), expected);
  EXPECT_THAT(names_of(cells_of(grids(), {})), expected);
}

TEST(ExpandGridsTest, AnOverrideReplacesTheAxisOfEveryGrid) {
  const std::vector<AxisOverride> changes{parse_axis_override("Model.ctx=32"), parse_axis_override("Gemm.m=1")};
  EXPECT_THAT(names_of(expand(families(), grids(), changes)),
              ElementsAre("Model/size:small/ctx:32", "Model/size:large/ctx:32"));
}

TEST(ExpandGridsTest, RefusesWhatTheFamiliesDoNotTake) {
  const auto error_of = [](const FamilyGrid& grid, const std::string& change) {
    std::vector<AxisOverride> changes;
    if (!change.empty()) changes.push_back(parse_axis_override(change));
    return usage_error_of([&] { return expand(families(), std::vector{grid}, changes); });
  };
  EXPECT_EQ(error_of({"Attention", {{"heads", {"1"}}}}, ""),
            "Attention/heads:1: this program has no family 'Attention' (families: Model, Gemm)");
  EXPECT_EQ(error_of(grids()[1], "Model.ctx=7"), "Model/size:large/ctx:7: large needs an even ctx");
  EXPECT_EQ(error_of(grids()[0], "Model.ctx=-7"), "--tb_axis=Model.ctx: '-7' is not a positive whole number");
}

TEST(ParseAxisOverrideTest, SplitsFamilyAxisAndValues) {
  const AxisOverride change = parse_axis_override("Model.size=small,2.7B");  // a dot in a value is the value's
  EXPECT_EQ(change.family, "Model");
  EXPECT_EQ(change.axis.key, "size");
  EXPECT_THAT(change.axis.values, ElementsAre("small", "2.7B"));
}

TEST(ParseAxisOverrideTest, SaysWhatIsMissing) {
  const std::string expected = "; expected Family.key=value[,value...], e.g. Model.ctx=2048,4096";
  EXPECT_EQ(parse_error("Model.ctx"), "--tb_axis=Model.ctx: no '='" + expected);
  EXPECT_EQ(parse_error(""), "--tb_axis=: no '='" + expected);
  EXPECT_EQ(parse_error("ctx=8"), "--tb_axis=ctx=8: no '.' between family and axis" + expected);
  EXPECT_EQ(parse_error("size=2.7B"), "--tb_axis=size=2.7B: no '.' between family and axis" + expected);
  EXPECT_EQ(parse_error("Model.ctx="), "--tb_axis=Model.ctx=: an empty value" + expected);
  EXPECT_EQ(parse_error("Model.ctx=8,,16"), "--tb_axis=Model.ctx=8,,16: an empty value" + expected);
  EXPECT_EQ(parse_error("Model.ctx=8,"), "--tb_axis=Model.ctx=8,: an empty value" + expected);
}

}  // namespace
}  // namespace tbench
