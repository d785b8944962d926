#include "bench/plan/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "bench/families/family.hpp"

namespace tbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns `Ceiling`, whose copies are measured only in bursts, and a family of steps whose cases name their ceilings.
std::vector<Family> two_families() {
  Family ceilings;
  ceilings.spec = {.name = "Ceiling",
                   .keys = {{"what", {"copy", "gemm_bf16", "launch"}}, {"regime", {"burst", "sustained"}}},
                   .tables = {},
                   .invalid_reason = [](const CaseId& id) -> std::optional<std::string> {
                     if (id.at("what") != "gemm_bf16" && id.at("regime") == "sustained") return "in bursts alone";
                     return std::nullopt;
                   }};
  Family held;
  held.spec = {.name = "Held", .keys = {{"against", {}}}, .tables = {}, .invalid_reason = {}};
  held.ceiling = [](const CaseId& id) -> std::optional<std::string> {
    if (id.at("against") == "nothing") return std::nullopt;
    return id.at("against");
  };
  return {ceilings, held};
}

CaseId held_case(const std::string& against) { return CaseId{"Held", {{"against", against}}}; }

std::vector<std::string> names_needed(const std::vector<Family>& families, const std::vector<CaseId>& cases,
                                      bool on_gpu = false, const std::vector<CaseId>& beside = {}) {
  std::vector<std::string> names;
  for (const CaseId& id : ceilings_of(families, cases, beside, on_gpu)) names.push_back(id.name());
  return names;
}

Record timed(CaseId id, double seconds, Regime regime, const Work& work) {
  Record record;
  record.id = std::move(id);
  record.timing.emplace();
  record.timing->median = {seconds};
  record.timing->regime = regime;
  record.work = work;
  return record;
}

CaseId ceiling_case(const std::string& what, const std::string& regime) {
  return CaseId{"Ceiling", {{"what", what}, {"regime", regime}}};
}

Work flop(double count, const std::string& ceiling = "") { return {.flop = {count}, .tokens = 0, .ceiling = ceiling}; }
Work bytes(std::int64_t count, const std::string& ceiling = "") {
  return {.flop = {}, .tokens = 0, .bytes = count, .ceiling = ceiling};
}

/// Knows these ceilings: products of 8e12 FLOP take 10 ms sustained and 8 ms in bursts, and copies of 4e9 bytes take 1
/// ms.
class Shares : public ::testing::Test {
 protected:
  void SetUp() override {
    ceilings.learn(timed(ceiling_case("gemm_bf16", "sustained"), 0.010, Regime::kSustained, flop(8e12)), 0);
    ceilings.learn(timed(ceiling_case("gemm_bf16", "burst"), 0.008, Regime::kBurst, flop(8e12)), 0);
    Record copy = timed(ceiling_case("copy", "burst"), 0.001, Regime::kBurst, bytes(4'000'000'000));
    copy.timing->l2 = L2State::kCold;
    ceilings.learn(copy, 0);
  }
  [[nodiscard]] std::optional<double> held(Record record, std::int64_t process = 0) const {
    ceilings.hold(record, process);
    return record.ceiling_per_second;
  }

  std::vector<Family> families = two_families();
  MeasuredCeilings ceilings{families};
};

TEST(CeilingsOf, AreThoseOfTheCasesOwnRegimeEachOnce) {
  std::vector<Family> families = two_families();
  const std::vector<CaseId> cases{held_case("gemm_bf16"), held_case("nothing"), held_case("copy"), held_case("copy"),
                                  ceiling_case("gemm_bf16", "burst")};
  EXPECT_THAT(names_needed(families, cases),
              ElementsAre("Ceiling/what:gemm_bf16/regime:sustained", "Ceiling/what:copy/regime:burst"));
  families.back().spec.regime = Regime::kBurst;
  EXPECT_THAT(names_needed(families, cases),
              ElementsAre("Ceiling/what:gemm_bf16/regime:burst", "Ceiling/what:copy/regime:burst"));
  families.erase(families.begin());
  EXPECT_THAT(names_needed(families, {held_case("copy")}), IsEmpty());
}

TEST(CeilingsOf, BurstsOnAGpuNeedTheChainedOnesAndTheLaunchToo) {
  std::vector<Family> families = two_families();
  const std::vector<CaseId> cases{held_case("copy"), held_case("nothing"), held_case("gemm_bf16"), held_case("copy")};
  EXPECT_THAT(names_needed(families, cases, /*on_gpu=*/true),
              ElementsAre("Ceiling/what:copy/regime:burst", "Ceiling/what:gemm_bf16/regime:sustained"));
  families.back().spec.regime = Regime::kBurst;
  EXPECT_THAT(names_needed(families, cases, /*on_gpu=*/true),
              ElementsAre("Ceiling/what:copy/regime:burst", "Ceiling/what:launch/regime:burst",
                          "Ceiling/what:gemm_bf16/regime:burst", "Ceiling/what:gemm_bf16/regime:sustained"));
}

/// Returns a step of 64 kernels that took `seconds` by events and 800 us by its trace.
Record traced(CaseId id, double seconds) {
  Record record = timed(std::move(id), seconds, Regime::kSustained, {});
  record.trace.emplace();
  record.trace->device = {800e-6};
  record.trace->kernels.resize(1);
  record.trace->kernels[0].calls = 64;
  return record;
}

TEST(QueueGap, OfTheSameProcessIsTheChainedSteps) {
  const std::vector<Family> families = two_families();
  MeasuredCeilings ceilings{families};
  const auto gap_of = [&](Record record, std::int64_t process) {
    ceilings.hold(record, process);
    return record.queue_gap;
  };
  const CaseId id = ceiling_case("queue_gap", "sustained");
  EXPECT_FALSE(gap_of(traced(held_case("x"), 0.001), 0));
  ceilings.learn(traced(id, 800e-6 + 64 * 0.1e-6), 0);  // too short to be a kernel, and too long
  ceilings.learn(traced(id, 800e-6 + 64 * 5.1e-6), 0);
  EXPECT_FALSE(gap_of(traced(held_case("x"), 0.001), 0));
  ceilings.learn(traced(id, 800e-6 + 64 * 1.5e-6), 0);
  ceilings.learn(traced(id, 800e-6 + 64 * 1.25e-6), 0);
  ceilings.learn(traced(id, 800e-6 + 64 * 1.75e-6), 0);
  EXPECT_NEAR(gap_of(traced(held_case("x"), 0.001), 0).value().value, 1.25e-6, 1e-12);
  EXPECT_NEAR(gap_of(traced(id, 800e-6 + 64 * 1.5e-6), 0).value().value, 1.5e-6, 1e-12) << "its own";
  EXPECT_FALSE(gap_of(traced(held_case("x"), 0.001), 1));
  EXPECT_FALSE(gap_of(timed(held_case("x"), 0.001, Regime::kBurst, {}), 0));
}

TEST(CeilingsOf, ANameThatThereIsNotIsADefect) {
  EXPECT_THROW(static_cast<void>(ceilings_of(two_families(), std::vector{held_case("gemm_fp4")}, {}, false)),
               std::logic_error);
}

TEST(CeilingsOf, AreThoseBesideAStudyTooEachOnce) {
  const std::vector<CaseId> beside{ceiling_case("copy", "burst"), ceiling_case("gemm_bf16", "sustained")};
  EXPECT_THAT(names_needed(two_families(), {held_case("copy")}, false, beside),
              testing::ElementsAre(beside[0].name(), beside[1].name()));
  std::vector<Family> of_ranks = two_families();
  of_ranks.erase(of_ranks.begin());
  EXPECT_THAT(names_needed(of_ranks, {held_case("nothing")}, true, beside), testing::IsEmpty())
      << "a run of several ranks has no ceilings";
}

TEST(CeilingsOf, EveryCaseNamesOneThatThereIs) {
  const std::vector<Family> families = all_families({});
  const std::vector<FamilySpec> specs = specs_of(families);
  for (const Suite suite : {Suite::kSmoke, Suite::kStandard, Suite::kFull}) {
    const std::vector<CaseId> cases = expand(specs, suite, {});
    std::vector<CaseId> needed;
    ASSERT_NO_THROW(needed = ceilings_of(families, cases, {}, true));
    EXPECT_FALSE(needed.empty());
  }
}

TEST(CeilingsOf, ModelsAndAttentionAreHeldAgainstProductsOfTheirPrecision) {
  const std::vector<Family> families = all_families({});
  EXPECT_THAT(names_needed(families,
                           {CaseId::parse("Model/size:small/ctx:512/batch:4/pass:forward/precision:bf16/impl:eager")}),
              ElementsAre("Ceiling/what:gemm_bf16/regime:sustained"));
  EXPECT_THAT(
      names_needed(families, {CaseId::parse("Model/size:small/ctx:512/batch:4/pass:forward/precision:bf16/impl:eager")},
                   /*on_gpu=*/true),
      ElementsAre("Ceiling/what:gemm_bf16/regime:sustained", "Ceiling/what:queue_gap/regime:sustained"));
  const auto of_attention = [&](const std::string& variant) {
    return names_needed(families, {CaseId::parse("Attention/batch:8/heads:1/d_model:64/seq_len:1024/causal:1/"
                                                 "pass:forward/" +
                                                 variant)});
  };
  EXPECT_THAT(of_attention("precision:tf32/impl:flash"), ElementsAre("Ceiling/what:gemm_tf32/regime:burst"));
  EXPECT_THAT(of_attention("precision:fp32/impl:naive"), ElementsAre("Ceiling/what:gemm_fp32/regime:burst"));
  // Three TF32 products that replace a float32 product have no float32 ceiling.
  EXPECT_THAT(of_attention("precision:fp32/impl:flash"), IsEmpty());
  EXPECT_THAT(of_attention("precision:fp32/impl:sdpa_efficient"), IsEmpty());
}

TEST(CeilingsOf, MatrixProductsAreHeldAgainstThoseOfTheirPrecision) {
  const std::vector<Family> families = all_families({});
  const auto of_gemm = [&](const std::string& precision) {
    return names_needed(families,
                        {CaseId::parse("Gemm/m:2048/n:10240/k:2560/precision:" + precision + "/impl:cublaslt_best")});
  };
  EXPECT_THAT(of_gemm("fp8_e4m3"), ElementsAre("Ceiling/what:gemm_fp8_e4m3/regime:burst"));
  EXPECT_THAT(of_gemm("tf32"), ElementsAre("Ceiling/what:gemm_tf32/regime:burst"));
}

TEST_F(Shares, AreOfTheOwnRegime) {
  EXPECT_EQ(held(timed(held_case("x"), 0.1, Regime::kSustained, flop(1e12, "gemm_bf16"))), 8e12 / 0.010);
  EXPECT_EQ(held(timed(held_case("x"), 0.1, Regime::kBurst, flop(1e12, "gemm_bf16"))), 8e12 / 0.008);
}

TEST_F(Shares, OfALongBurstUsesTheSustainedCeiling) {
  Record burst = timed(held_case("x"), 0.25, Regime::kBurst, flop(1e12, "gemm_bf16"));
  burst.timing->l2 = L2State::kCold;
  EXPECT_EQ(held(burst), 8e12 / 0.008);
  burst.timing->median = {0.26};
  EXPECT_EQ(held(burst), 8e12 / 0.010);
  burst.timing->median = {0.13};
  burst.timing->launches_per_sample = 2;
  EXPECT_EQ(held(burst), 8e12 / 0.010);
  burst.timing->l2.reset();  // the L2 state is not known on a CPU
  EXPECT_EQ(held(burst), 8e12 / 0.008);
}

/// Adds the ceiling of a launch: 5 us with a cold L2.
class Floors : public Shares {
 protected:
  void SetUp() override {
    Shares::SetUp();
    ceilings.learn(of_launch(6e-6), 0);
    ceilings.learn(of_launch(5e-6), 0);
    ceilings.learn(of_launch(7e-6), 0);
  }
  [[nodiscard]] static Record of_launch(double seconds) {
    Record record = timed(ceiling_case("launch", "burst"), seconds, Regime::kBurst, {});
    record.timing->l2 = L2State::kCold;
    return record;
  }
  [[nodiscard]] static Record of_kernel(double seconds, L2State l2 = L2State::kCold) {
    Record record = timed(held_case("x"), seconds, Regime::kBurst, bytes(40'000'000, "copy"));
    record.timing->l2 = l2;
    return record;
  }
  [[nodiscard]] Record after(Record record, std::int64_t process = 0) const {
    ceilings.hold(record, process);
    return record;
  }
};

TEST_F(Floors, AreALaunchAndTheWorkAtTheCeilingsRate) {
  EXPECT_DOUBLE_EQ(after(of_kernel(20e-6)).floor.value().value, 15e-6);  // 40 MB at 4 TB/s take 10 us
  Record product = timed(held_case("x"), 1.0, Regime::kBurst, flop(4e12, "gemm_bf16"));
  product.timing->l2 = L2State::kCold;
  EXPECT_DOUBLE_EQ(after(product).floor.value().value, 5e-6 + 0.005);  // the burst is too long: the chained product
}

TEST_F(Floors, AreOfBurstsWithTheSameCacheAndProcessAlone) {
  EXPECT_FALSE(after(of_kernel(20e-6, L2State::kWarm)).floor.has_value());
  EXPECT_FALSE(after(of_kernel(20e-6), 1).floor.has_value());
  EXPECT_FALSE(after(timed(held_case("x"), 0.1, Regime::kSustained, bytes(1000, "copy"))).floor.has_value());
  EXPECT_FALSE(after(of_launch(5e-6)).floor.has_value());  // a ceiling has none
  Record without_ceiling = of_kernel(20e-6);
  without_ceiling.work->ceiling.clear();
  EXPECT_FALSE(after(without_ceiling).floor.has_value());
}

TEST_F(Floors, SayWhatTheLaunchLimits) {
  EXPECT_TRUE(after(of_kernel(12e-6)).timing->resolution_limited);  // over 0.4
  EXPECT_FALSE(after(of_kernel(13e-6)).timing->resolution_limited);
  Record elsewhere = of_kernel(12e-6);  // the sampler's decision stands if no launch was measured
  EXPECT_FALSE(after(elsewhere, 1).timing->resolution_limited);
  elsewhere.timing->resolution_limited = true;
  EXPECT_TRUE(after(elsewhere, 1).timing->resolution_limited);
}

TEST_F(Shares, OfMemoryAreThoseOfBurstsForStepsToo) {
  EXPECT_EQ(held(timed(held_case("x"), 0.1, Regime::kSustained, bytes(1000, "copy"))), 4e9 / 0.001);
}

TEST_F(Shares, AreOfTheOwnProcess) {
  ceilings.learn(timed(ceiling_case("gemm_bf16", "burst"), 0.016, Regime::kBurst, flop(8e12)), 1);
  const Record record = timed(held_case("x"), 0.1, Regime::kBurst, flop(1e12, "gemm_bf16"));
  EXPECT_EQ(held(record, 0), 8e12 / 0.008);
  EXPECT_EQ(held(record, 1), 8e12 / 0.016);
  EXPECT_EQ(held(record, 2), std::nullopt);
}

TEST_F(Shares, AWarmCacheIsNotHeldAgainstColdMemory) {
  Record warm = timed(held_case("x"), 0.1, Regime::kBurst, bytes(1000, "copy"));
  warm.timing->l2 = L2State::kWarm;
  EXPECT_EQ(held(warm), std::nullopt);
  warm.timing->l2 = L2State::kCold;
  EXPECT_EQ(held(warm), 4e9 / 0.001);
  Record product = timed(held_case("x"), 0.1, Regime::kBurst, flop(1e12, "gemm_bf16"));
  product.timing->l2 = L2State::kWarm;
  EXPECT_EQ(held(product), 8e12 / 0.008);
}

TEST_F(Shares, TheHighestOfSeveralRepetitionsCounts) {
  ceilings.learn(timed(ceiling_case("gemm_bf16", "burst"), 0.004, Regime::kBurst, flop(8e12)), 0);
  ceilings.learn(timed(ceiling_case("gemm_bf16", "burst"), 0.005, Regime::kBurst, flop(8e12)), 0);
  EXPECT_EQ(held(timed(held_case("x"), 0.1, Regime::kBurst, flop(1e12, "gemm_bf16"))), 8e12 / 0.004);
}

TEST_F(Shares, AreAbsentWhereNothingIsKnown) {
  EXPECT_EQ(held(timed(held_case("x"), 0.1, Regime::kBurst, flop(1e12))), std::nullopt);
  EXPECT_EQ(held(timed(held_case("x"), 0.1, Regime::kBurst, flop(1e12, "gemm_fp8_e4m3"))), std::nullopt);
  Record failed = timed(held_case("x"), 0.1, Regime::kBurst, flop(1e12, "gemm_bf16"));
  failed.timing.reset();
  EXPECT_EQ(held(failed), std::nullopt);
  // Records that are not ok, or have no ceiling, are not learnt from.
  MeasuredCeilings empty{families};
  Record throttled = timed(ceiling_case("copy", "burst"), 0.001, Regime::kBurst, bytes(1000));
  throttled.status = Status::kThrottled;
  empty.learn(throttled, 0);
  empty.learn(timed(held_case("copy"), 0.001, Regime::kBurst, bytes(1000)), 0);
  Record copy = timed(held_case("x"), 0.1, Regime::kBurst, bytes(1000, "copy"));
  empty.hold(copy, 0);
  EXPECT_EQ(copy.ceiling_per_second, std::nullopt);
}

}  // namespace
}  // namespace tbench::bench
