#include "bench/families/sustained.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bench/families/family.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/model/plugins.hpp"

namespace tbench::bench {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMebi = 1 << 20;

/// Returns a product of squares whose three operands have 3 MiB in bf16 for an extent of 724, and 12 MiB for 1,448.
CaseId product(const std::string& extent, const std::string& behind, const std::string& impl = "aten") {
  return CaseId::parse("Gemm/m:" + extent + "/n:" + extent + "/k:" + extent + "/precision:bf16/impl:" + impl + behind);
}

std::optional<std::string> reason_of(const CaseId& id, std::optional<std::int64_t> l2_bytes) {
  const auto subject = make_family("Gemm", {}).make_case(id, {.on_gpu = false, .seed = 1, .model_sizes = {}});
  return sustained_unsupported_reason(id, *subject, l2_bytes);
}

TEST(Sustained, IsAnOptionalKeyOfBursts) {
  EXPECT_TRUE(is_sustained(product("64", "/regime:sustained")));
  EXPECT_FALSE(is_sustained(product("64", "")));
  EXPECT_FALSE(is_sustained(CaseId::parse("Ceiling/what:gemm_bf16/regime:sustained")));
  for (const char* const name : {"Attention", "Gemm", "Kernel"}) {
    const FamilySpec spec = make_family(name, {}).spec;
    CaseId id{name, {{"regime", "sustained"}}};
    EXPECT_EQ(regime_of(spec, id), Regime::kSustained) << name;
    EXPECT_EQ(regime_of(spec, CaseId{name, {{"impl", "aten"}}}), Regime::kBurst) << name;
    for (const CaseTable& table : spec.tables) EXPECT_EQ(table.axes.back().key, "regime") << name;
  }
}

TEST(Sustained, DropsTheFirstPartOfEveryChunk) {
  measure::SamplerOptions sampler;
  const Seconds chunk = sampler.chunk_time;
  prescribe_sustained(product("64", ""), sampler);
  EXPECT_EQ(sampler.dropped_time.value, 0);
  prescribe_sustained(product("64", "/regime:sustained"), sampler);
  EXPECT_EQ(sampler.dropped_time.value, chunk.value);
  EXPECT_GT(sampler.chunk_time.value, 2 * chunk.value);
  EXPECT_EQ(sampler.warm_up_time.value, 0.5);
  EXPECT_EQ(sampler.warm_up_limit.value, 5);
  EXPECT_FALSE(sampler.fixed_warm_up);
}

TEST(Sustained, RefusesOperandsThatStayInTheCache) {
  const CaseId small = product("724", "/regime:sustained");
  EXPECT_THAT(reason_of(small, 4 * kMebi).value_or(""),
              HasSubstr("its operands of 3.0 MiB could stay in the L2 cache of 4.0 MiB"));
  EXPECT_EQ(reason_of(product("1448", "/regime:sustained"), 4 * kMebi), std::nullopt);
  EXPECT_EQ(reason_of(product("724", ""), 4 * kMebi), std::nullopt);
  EXPECT_EQ(reason_of(small, std::nullopt), std::nullopt);
}

TEST(Plugins, AreNotMeasuredSustained) {
  model::add_plugin({.path = "/libmine.so", .name = "mine", .digest = "", .parts = {"Gemm"}});
  const CaseId builtin = product("1448", "/regime:sustained");
  const auto subject = make_family("Gemm", {}).make_case(builtin, {.on_gpu = false, .seed = 1, .model_sizes = {}});
  const CaseId plugin = product("1448", "/regime:sustained", "mine");
  EXPECT_THAT(sustained_unsupported_reason(plugin, *subject, std::nullopt).value_or(""),
              HasSubstr("plug-ins are measured in bursts alone"));
  EXPECT_EQ(sustained_unsupported_reason(builtin, *subject, std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace tbench::bench
