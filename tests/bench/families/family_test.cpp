// Tests the Ceiling family, and pins the names of all cases in the suites' tables, including retired ones. A name is
// the join key of every comparison, so a change must be intended. After an intended change, ci/update_case_lists.sh
// runs this test to write the lists.
#include "bench/families/family.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tbench/core/case_table.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/device.hpp"
#include "tbench/model/model_case.hpp"

namespace tbench::bench {
namespace {

std::string path_of(const std::string& suite) { return std::string{TBENCH_TEST_DATA} + "/cases_" + suite + ".txt"; }

std::vector<std::string> pinned(const std::string& suite) {
  std::ifstream file{path_of(suite)};
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) names.push_back(line);
  return names;
}

std::vector<std::string> names_of(Suite suite) {
  const std::vector<FamilySpec> specs = specs_of(all_families({}));
  std::vector<std::string> names;
  for (const CaseId& id : expand(specs, suite, {})) names.push_back(id.name());
  return names;
}

/// Compares the suite's names with its list; with TBENCH_UPDATE_GOLDEN=1, writes the list.
void expect_pinned(Suite suite, const std::string& name) {
  const std::vector<std::string> names = names_of(suite);
  if (std::getenv("TBENCH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream file{path_of(name)};
    for (const std::string& line : names) file << line << '\n';
  }
  EXPECT_EQ(names, pinned(name));
}

TEST(CaseList, IsTheOnePinned) {
  expect_pinned(Suite::kSmoke, "smoke");
  expect_pinned(Suite::kStandard, "standard");
  expect_pinned(Suite::kFull, "full");
}

/// Returns the names of the cases that the ranks of a run measure together.
std::vector<std::string> names_for_ranks(Suite suite, int ranks) {
  std::vector<std::string> names;
  for (const CaseId& id : expand(specs_of(for_ranks(all_families({}), ranks)), suite, {})) names.push_back(id.name());
  return names;
}

TEST(CaseList, OfRanksHasWhatSpansThemAlone) {
  // Collective: 6 operations x 2 sizes x 2 precisions; 5 sizes from 1 KiB to 1 GiB in bf16; 12 sizes up to 4 GiB x 2
  // precisions. DataParallel: 7 strategies x 2 precisions; 2 sizes; 3 sizes x 2 implementations x (4 strategies without
  // buckets, 3 with 3 bucket sizes each), and 2 sizes as graphs. Overlap: one size; one size; 3 sizes x 3 precisions.
  // The full suite also has the cases that only the standard suite's tables have: 2 sizes of Collective for each of 6
  // operations.
  EXPECT_EQ(names_for_ranks(Suite::kSmoke, 2).size(), 6U * 2 * 2 + 7 * 2 + 1);
  EXPECT_EQ(names_for_ranks(Suite::kStandard, 2).size(), 6U * 5 + 7 * 2 + 1);
  EXPECT_EQ(names_for_ranks(Suite::kFull, 2).size(), 6U * (12 * 2 + 2) + 3 * 2 * (4 + 3 * 3) + 7 * 2 + 3 * 3);
  EXPECT_EQ(names_for_ranks(Suite::kFull, 8).front(), "Collective/op:all_reduce/bytes:1024/precision:fp32/gpus:8");
  EXPECT_EQ(names_for_ranks(Suite::kFull, 8).back(), "Overlap/bytes:104857600/precision:bf16/gpus:8");
}

TEST(CaseList, NamesBucketsWhereThereAreSome) {
  const std::string common = "DataParallel/size:small/ctx:512/batch:4/precision:bf16/impl:sdpa/gpus:2/strategy:";
  std::vector<std::string> expected;
  for (const char* rest : {"none", "naive", "flat", "bucketed/bucket_mib:25", "overlapped/bucket_mib:25",
                           "reducer/bucket_mib:25", "sharded_optimizer"}) {
    expected.push_back(common + rest);
  }
  std::vector<std::string> names = names_for_ranks(Suite::kStandard, 2);
  std::erase_if(names, [](const std::string& name) { return name.find("DataParallel/size:small") != 0; });
  EXPECT_EQ(names, expected);
  const std::vector<AxisOverride> other{parse_axis_override("DataParallel.bucket_mib=1"),
                                        parse_axis_override("DataParallel.size=small")};
  names.clear();
  for (const CaseId& id : expand(specs_of(for_ranks(all_families({}), 2)), Suite::kStandard, other)) {
    if (id.family() == "DataParallel") names.push_back(id.name());
  }
  EXPECT_EQ(names, (std::vector<std::string>{common + "bucketed/bucket_mib:1", common + "overlapped/bucket_mib:1",
                                             common + "reducer/bucket_mib:1"}));
}

TEST(CaseList, OfRanksTakesNoOtherNumberOfThem) {
  const std::vector<AxisOverride> four{parse_axis_override("Collective.gpus=4")};
  EXPECT_THROW(static_cast<void>(expand(specs_of(for_ranks(all_families({}), 2)), Suite::kSmoke, four)), UsageError);
}

std::int64_t count_of(Suite suite, const std::string& part) {
  const std::vector<std::string> names = names_of(suite);
  return std::ranges::count_if(names, [&](const std::string& name) { return name.find(part) != std::string::npos; });
}

std::int64_t course_sizes() { return static_cast<std::int64_t>(course_model_sizes().size()); }

// 8 published sizes x 3 contexts x 2 passes with sdpa and fused.
constexpr std::int64_t kPublishedCases = 8 * 3 * 2 * 2;

TEST(CaseList, FullHoldsTheWholeModelGrid) {
  // For each size, each implementation has 4 contexts x 3 passes x 2 precisions, tf32 and fp16 at context 512, and
  // graphs in bf16.
  const auto impls = static_cast<std::int64_t>(model::model_impl_names().size());
  EXPECT_EQ(count_of(Suite::kFull, "Model/"), impls * course_sizes() * (24 + 6 + 3) + kPublishedCases);
  EXPECT_EQ(count_of(Suite::kFull, "/exec:graph"), impls * course_sizes() * 3);
}

TEST(CaseList, FullHoldsTheWholeAttentionGrid) {
  // The course: 6 widths x 7 lengths x causal or not x 3 passes. The models: each size x 4 contexts x 3 passes. Long
  // sequences with one head: 2 widths x 3 lengths x 3 passes, and the same with 16 heads. Sustained: 2 widths x 2
  // lengths x 2 passes, in bf16. Grouped heads: 6 kinds x 2 masks x 2 passes with 6 lengths in bursts and 2 sustained,
  // and the standard suite's case.
  const std::int64_t course = 6 * 7 * 2 * 3, models = course_sizes() * 4 * 3, one_head = 2 * 3 * 3,
                     sixteen_heads = 2 * 3 * 3, sustained = 2 * 2 * 2, grouped = 6 * 2 * 2 * (6 + 2) + 1;
  EXPECT_EQ(count_of(Suite::kFull, "precision:bf16/impl:sdpa_cudnn"),
            course + models + one_head + sixteen_heads + sustained + grouped);
  EXPECT_EQ(count_of(Suite::kFull, "impl:sdpa_cudnn/kv_heads:"), grouped);
  EXPECT_EQ(count_of(Suite::kFull, "impl:sdpa_cudnn/regime:sustained"), sustained);
  // These cases exist only in bf16: a model's backward by itself (each size x 4 contexts), and 65,536 tokens with 16
  // heads (2 widths x 3 passes).
  EXPECT_EQ(count_of(Suite::kFull, "precision:fp32/impl:sdpa_efficient"),
            course + models - course_sizes() * 4 + one_head + sixteen_heads - 2 * 3);
  EXPECT_EQ(count_of(Suite::kFull, "precision:tf32/impl:sdpa_"), 0);
  // 2 widths x 3 lengths, backward only: two implementations in bf16, one in fp32.
  EXPECT_EQ(count_of(Suite::kFull, "/deterministic:1"), 2 * 3 * (2 + 1));
}

TEST(CaseList, FullHoldsEveryMatrixOfTheModelsOnceAndTheSquares) {
  // Each size x 5 shapes (one projection, three fused projections, FFN up and down, LM head), and 7 squares.
  const std::int64_t products = course_sizes() * 5 + 7;
  // One square in two precisions is sustained, too.
  EXPECT_EQ(count_of(Suite::kFull, "precision:bf16/impl:cublaslt_best"), products + 1);
  EXPECT_EQ(count_of(Suite::kFull, "Gemm/"), (products * 5 + 2) * 3);
  EXPECT_EQ(count_of(Suite::kFull, "Gemm/m:2048/n:10000/k:768/precision:fp8_e4m3/"), 3);
  EXPECT_EQ(count_of(Suite::kFull, "Gemm/m:16384/n:16384/k:16384/precision:tf32/"), 3);
}

TEST(CaseList, EveryOperationOfTheKernelFamilyIsInEverySuite) {
  // rmsnorm, rope, swiglu, softmax, cross_entropy, embedding, add_rmsnorm, rope_qkv, swiglu_packed: 2 passes x 2
  // precisions; add, cross_entropy_in_place, linear_cross_entropy: 2 precisions; cast: 2 passes in bf16; adamw:
  // float32; adamw_cast: bf16
  const std::int64_t aten = 9 * 2 * 2 + 3 * 2 + 2 + 1 + 1;
  // Our kernels cover all but softmax, cross_entropy, add and cast.
  const std::int64_t fused = 7 * 2 * 2 + 2 * 2 + 1 + 1;
  const std::int64_t of_one_size = aten + fused;
  EXPECT_EQ(count_of(Suite::kSmoke, "Kernel/"), of_one_size);
  EXPECT_EQ(count_of(Suite::kStandard, "Kernel/"), of_one_size);
  // Each size at context 512, and the operations on activations in bf16 at context 1024. The head of a published size,
  // by two implementations in two regimes.
  EXPECT_EQ(count_of(Suite::kFull, "Kernel/"), course_sizes() * (of_one_size + (9 * 2 + 3) + (7 * 2 + 2)) + 2 * 2);
}

TEST(CaseList, FullHoldsTheStandardSuite) {
  const std::vector<std::string> full = names_of(Suite::kFull);
  const std::set<std::string> known{full.begin(), full.end()};
  for (const std::string& name : names_of(Suite::kStandard)) EXPECT_TRUE(known.contains(name)) << name;
}

/// Returns the `layers` of the published sizes' cases by size and context; "" for a whole size.
std::map<std::string, std::string> published_layers() {
  std::map<std::string, std::string> layers;
  for (const std::string& name : names_of(Suite::kFull)) {
    const CaseId id = CaseId::parse(name);
    if (id.family() != "Model" || id.at("batch") != "1") continue;
    const std::string* const own = id.find(kLayersKey);
    layers[id.at("size") + " " + id.at("ctx")] = own == nullptr ? "" : *own;
  }
  return layers;
}

TEST(CaseList, FullShortensThePublishedSizesThatDoNotFit) {
  std::map<std::string, std::string> expected;
  for (const ModelSize& size : model_sizes_of(SizeGroup::kPublished)) {
    const bool is_large = size.name.ends_with("8B") || size.name == "cs336-leaderboard";
    const bool is_small = size.name == "llama3.2-1B" || size.name == "qwen3-0.6B";
    expected[size.name + " 2048"] = is_large ? "8" : "";
    expected[size.name + " 8192"] = is_large || size.name == "qwen3-4B" ? "8" : "";
    expected[size.name + " 32768"] = is_small ? "" : "4";
  }
  EXPECT_EQ(published_layers(), expected);
  EXPECT_EQ(count_of(Suite::kStandard, "layers:"), 0);
  EXPECT_EQ(count_of(Suite::kStandard, "size:llama"), 0);
}

/// Returns the case on a CPU.
std::unique_ptr<Case> on_cpu(const std::string& name) {
  const CaseContext cpu{.on_gpu = false, .seed = 1, .context_time = {}, .model_sizes = known_model_sizes({})};
  return make_family("Model", {}).make_case(CaseId::parse(name), cpu);
}

std::int64_t parameter_bytes_of(const Case& built) {
  std::int64_t bytes = 0;
  for (const LiveTensor& tensor : built.live_tensors()) bytes += tensor.memory_class == "parameters" ? tensor.bytes : 0;
  return bytes;
}

TEST(ModelFamily, LayersShortenWhatIsCountedHeldAndVerified) {
  model::use_one_cpu_thread();
  const std::string whole = "Model/size:tiny/ctx:16/batch:2/pass:train_step/precision:fp32/impl:sdpa";
  ModelSize one = builtin_model_sizes().front();
  one.num_layers = 1;
  const auto shortened = on_cpu(whole + "/layers:1");
  EXPECT_EQ(shortened->work().flop, model_step_work(one, 16, 2, Pass::kTrainStep).flop);
  EXPECT_EQ(shortened->min_bytes(), model_min_bytes(one, Pass::kTrainStep));
  shortened->build();
  EXPECT_EQ(parameter_bytes_of(*shortened), 4 * parameter_count(one));
  const Verification verdict = shortened->verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
  EXPECT_TRUE(shortened->verify_again().value().passed);
  EXPECT_GT(on_cpu(whole)->work().flop, shortened->work().flop);
}

TEST(ModelFamily, ThePublishedCasesOfFullFitAndAreSupported) {
  std::int64_t cases = 0;
  for (const std::string& name : names_of(Suite::kFull)) {
    if (!name.starts_with("Model/") || name.find("/batch:1/") == std::string::npos) continue;
    ++cases;
    const auto made = on_cpu(name);
    EXPECT_LT(made->min_bytes(), std::int64_t{76} << 30) << name;
    const std::string reason = made->unsupported_reason().value_or("");
    EXPECT_EQ(reason, name.ends_with("/impl:sdpa") || name.find("/impl:sdpa/layers:") != std::string::npos
                          ? ""
                          : "our kernels run on GPUs only")
        << name;
  }
  EXPECT_EQ(cases, kPublishedCases);
}

TEST(ModelFamily, RefusesLayersThatTheSizeDoesNotHaveOrHasAnyway) {
  const FamilySpec spec = make_family("Model", {}).spec;
  const auto refused = [&](const std::string& layers) {
    const std::vector<AxisOverride> axes{parse_axis_override("Model.layers=" + layers)};
    try {
      return expand(std::vector{spec}, Suite::kSmoke, axes).front().name();
    } catch (const UsageError& error) {
      return std::string{error.what()};
    }
  };
  const std::string name = "Model/size:tiny/ctx:64/batch:4/pass:forward/precision:fp32/impl:eager/layers:";
  EXPECT_EQ(refused("1"), name + "1");
  EXPECT_EQ(refused("2"), name +
                              "2: layers:2 is the size's own number of layers, which names omit. Leave the key "
                              "layers out.");
  EXPECT_EQ(refused("3"), name +
                              "3: layers:3 is not from 1 to 1: the size has 2 layers. Give fewer, or leave the key "
                              "layers out.");
  EXPECT_EQ(refused("0"), "--tb_axis=Model.layers: '0' is not a positive whole number");
}

CaseId case_of(const std::string& what, const std::string& regime) {
  return CaseId{"Ceiling", {{"what", what}, {"regime", regime}}};
}

TEST(CeilingFamily, TheStandardSuiteHasEveryCeilingInEveryRegimeThatMakesSense) {
  const FamilySpec spec = make_family("Ceiling", {}).spec;
  std::set<std::string> sensible;
  for (const std::string& what : spec.keys.at(0).known) {
    for (const std::string& regime : spec.keys.at(1).known) {
      const CaseId id = case_of(what, regime);
      if (!spec.invalid_reason(id)) sensible.insert(id.name());
    }
  }
  std::set<std::string> listed;
  for (const CaseId& id : expand(std::vector{spec}, Suite::kStandard, {})) listed.insert(id.name());
  EXPECT_EQ(listed, sensible);
  // 4 bandwidths, 5 products in two regimes, launch and event, the gap of the queue, dispatch, and 4 copies between
  // device and host.
  EXPECT_EQ(listed.size(), 4U + 5 * 2 + 2 + 1 + 5);
}

TEST(CeilingFamily, WhatTheHostTakesPartInIsChainedAndMemoryIsNot) {
  const FamilySpec spec = make_family("Ceiling", {}).spec;
  EXPECT_EQ(spec.invalid_reason(case_of("dispatch", "burst")), "dispatch is only measured sustained");
  EXPECT_EQ(spec.invalid_reason(case_of("copy", "sustained")), "copy is only measured in bursts");
  EXPECT_EQ(spec.invalid_reason(case_of("gemm_bf16", "sustained")), std::nullopt);
}

TEST(CeilingFamily, PrescribesItsSamplingAndTheStateOfTheCache) {
  const Family family = make_family("Ceiling", {});
  measure::SamplerOptions sampler = measure::burst_options();
  sampler.l2 = L2State::kWarm;
  sampler.fixed_warm_up = 0;
  sampler.fixed_samples = 1;
  family.prescribe(case_of("copy", "burst"), sampler);
  EXPECT_EQ(sampler.l2, L2State::kCold);
  EXPECT_FALSE(sampler.fixed_warm_up || sampler.fixed_samples);
  EXPECT_EQ(sampler.warm_up_time, measure::burst_options().warm_up_time);
  family.prescribe(case_of("l2_read", "burst"), sampler);
  EXPECT_EQ(sampler.l2, L2State::kWarm);
  measure::SamplerOptions steps;
  family.prescribe(case_of("gemm_bf16", "sustained"), steps);
  // At the power limit, the clock settles in the dropped steps of a chunk. The chunk ends before the power control
  // overshoots.
  EXPECT_EQ(steps.fixed_warm_up, 20);
  EXPECT_EQ(steps.dropped_time, Seconds{0.25});
  EXPECT_EQ(steps.chunk_time, Seconds{0.55});
  EXPECT_LE(steps.sample_limit, Seconds{2.0});
  measure::SamplerOptions smoke;
  smoke.warm_up_time = smoke.sample_time = {0.01};
  family.prescribe(case_of("gemm_bf16", "sustained"), smoke);
  EXPECT_EQ(smoke.warm_up_time, Seconds{0.01});  // shorter times are kept
}

TEST(FewSamples, AreTenUnlessTheCommandLineSaysHowMany) {
  for (const Family& family : {make_family("Accumulation", {}), make_family("Autocast", {})}) {
    measure::SamplerOptions sampler;
    family.prescribe(CaseId::parse("Any/key:value"), sampler);
    EXPECT_EQ(sampler.fixed_samples, 10) << family.spec.name;
    EXPECT_EQ(sampler.fixed_warm_up, 10) << family.spec.name;
    sampler.fixed_samples = 3;
    sampler.fixed_warm_up = 0;
    family.prescribe(CaseId::parse("Any/key:value"), sampler);
    EXPECT_EQ(sampler.fixed_samples, 3) << family.spec.name;
    EXPECT_EQ(sampler.fixed_warm_up, 0) << family.spec.name;
  }
}

TEST(CeilingFamily, ProductsHaveADatasheetRateWhereTheirPrecisionHas) {
  const Family family = make_family("Ceiling", {});
  EXPECT_EQ(family.precision(case_of("gemm_bf16", "burst")), Precision::kBf16);
  EXPECT_EQ(family.precision(case_of("gemm_tf32", "burst")), Precision::kTf32);
  EXPECT_EQ(family.precision(case_of("gemm_fp8_e4m3", "burst")), std::nullopt);
  EXPECT_EQ(family.precision(case_of("copy", "burst")), std::nullopt);
  EXPECT_FALSE(family.ceiling);  // has no ceiling
}

}  // namespace
}  // namespace tbench::bench
