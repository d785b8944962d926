#include "bench/plan/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bench/families/family.hpp"
#include "tbench/core/error.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::bench {
namespace {

using ::testing::HasSubstr;

Selection select(const Options& options, bool has_gpu = true) {
  const std::vector<FamilySpec> specs = specs_of(all_families(options.sizes));
  return select_cases(specs, options, has_gpu);
}

std::string error_of(const Options& options, bool has_gpu = true) {
  try {
    static_cast<void>(select(options, has_gpu));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Selection, AStudyOfRanksHasTheRunsNumberOfThem) {
  Options options;
  options.study = "collectives";
  const std::vector<FamilySpec> of_four = specs_of(for_ranks(all_families({}), 4));
  const std::vector<CaseId> cases = select_cases(of_four, options, true).cases;
  EXPECT_EQ(cases.size(), 6U * 12 * 2);  // operations, sizes, precisions
  for (const CaseId& id : cases) EXPECT_EQ(id.at("gpus"), "4");
  EXPECT_THAT(error_of(options), HasSubstr("--tb_study=collectives: its cases need several ranks"));
}

TEST(Selection, TheDefaultSuiteDependsOnTheMachine) {
  EXPECT_EQ(select({}, true).suite, Suite::kStandard);
  EXPECT_EQ(select({}, false).suite, Suite::kSmoke);
}

TEST(Selection, AFilterIsASearchAndCanBeAnchored) {
  Options options;
  options.filter = "precision:bf16/impl:eager$";
  for (const CaseId& id : select(options).cases) EXPECT_TRUE(id.name().ends_with("precision:bf16/impl:eager"));
  options.filter = "^Model/size:small/ctx:512/batch:4/pass:train_step/precision:bf16/impl:sdpa$";
  EXPECT_EQ(select(options).cases.size(), 1U);
  options.filter = "eager$";
  const std::size_t eager = select(options).cases.size();
  options.filter = "-eager$";
  const std::size_t others = select(options).cases.size();
  EXPECT_GT(others, 0U);
  options.filter = ".";
  EXPECT_EQ(select(options).cases.size(), eager + others);
}

TEST(Selection, AnEmptyOneSaysWhereThereAreMatches) {
  Options options;
  options.filter = "size:small/ctx:1024/.*precision:fp32/impl:sdpa";
  EXPECT_THAT(error_of(options), HasSubstr("--tb_suite=full has 3"));
  options.filter = "size:small";
  EXPECT_THAT(error_of(options, false), HasSubstr("smoke suite (the default without a GPU)"));
  options.filter = "NoSuch";
  EXPECT_THAT(error_of(options), HasSubstr("no suite has a match"));
  options.filter = "Modle";
  EXPECT_THAT(error_of(options), ::testing::StartsWith("--benchmark_filter: no family 'Modle'; did you mean"));
}

TEST(Selection, AnAxisAndASizeOfTheUserMakeNewCells) {
  Options options;
  options.sizes = {parse_model_size("mine:2048,8192,24,16")};
  options.axes = {parse_axis_override("Model.ctx=2048"), parse_axis_override("Model.batch=1,8")};
  options.filter = "Model/size:mine/.*";
  const Selection selection = select(options);
  // 1 size x 1 context x 2 batches x bf16: 2 passes of eager, 3 of sdpa, and 2 of four implementations as graphs. A
  // family with an axis set by the user also has the retired cases.
  EXPECT_EQ(selection.cases.size(), 2U * (2 + 3 + 2 * 4));
  EXPECT_EQ(selection.cases.front().name(), "Model/size:mine/ctx:2048/batch:1/pass:forward/precision:bf16/impl:eager");
}

std::set<std::string> names_of(const Selection& selection) {
  std::set<std::string> names;
  for (const CaseId& id : selection.cases) names.insert(id.name());
  return names;
}

TEST(Selection, FullHasEveryCaseOfStandardWhateverTheUserChanges) {
  std::vector<Options> selections(4);
  selections[1].sizes = {parse_model_size("mine:2048,8192,24,16")};
  selections[2].axes = {parse_axis_override("Model.ctx=2048"), parse_axis_override("Attention.seq_len=2048"),
                        parse_axis_override("Kernel.ctx=2048"), parse_axis_override("Gemm.m=512")};
  selections[3].sizes = selections[1].sizes;
  selections[3].axes = {parse_axis_override("Model.size=mine"), parse_axis_override("Model.batch=1,8")};
  for (Options options : selections) {
    options.suite = Suite::kStandard;
    const std::set<std::string> standard = names_of(select(options));
    options.suite = Suite::kFull;
    const std::set<std::string> full = names_of(select(options));
    std::vector<std::string> missing;
    std::ranges::set_difference(standard, full, std::back_inserter(missing));
    EXPECT_THAT(missing, ::testing::IsEmpty()) << options.sizes.size() << " sizes, " << options.axes.size() << " axes";
    EXPECT_GT(standard.size(), 300U);
  }
}

TEST(Selection, LeavesOutWhatIsRetiredAndSaysHowMany) {
  Options options;
  options.suite = Suite::kStandard;
  const Selection standard = select(options);
  EXPECT_EQ(standard.cases.size(), 372U);
  EXPECT_EQ(standard.by_name_only, 10U) << "flash as a graph: 5 sizes, 2 passes";
  options.suite = Suite::kFull;
  const Selection full = select(options);
  EXPECT_EQ(full.cases.size(), 4337U);
  EXPECT_EQ(full.by_name_only, 7149U - 4337U);
  for (const Selection& selection : {standard, full}) {
    for (const CaseId& id : selection.cases) EXPECT_FALSE(retired_cases().contain(selection.suite, id)) << id.name();
  }
  const std::set<std::string> names = names_of(full);
  for (const std::string& flash : names) {  // naive accompanies flash on the course's grid
    if (!flash.starts_with("Attention/batch:8/") || !flash.ends_with("/precision:bf16/impl:flash")) continue;
    EXPECT_TRUE(names.contains(flash.substr(0, flash.rfind(':')) + ":naive")) << flash;
  }
}

TEST(Selection, FindsARetiredCaseByItsNameAndByAnAxis) {
  Options options;
  options.suite = Suite::kStandard;
  options.filter = "size:small/.*impl:flash/exec:graph";
  EXPECT_EQ(select(options).cases.size(), 2U);
  EXPECT_EQ(select(options).by_name_only, 0U);
  options.filter = "size:small/.*exec:graph";  // matches other cases, too
  EXPECT_EQ(select(options).cases.size(), 2U * 3);
  EXPECT_EQ(select(options).by_name_only, 2U);
  options.axes = {parse_axis_override("Model.ctx=2048")};
  EXPECT_EQ(select(options).cases.size(), 2U * 4);
  options.axes.clear();
  options.suite = Suite::kFull;
  options.filter = "Attention/.*pass:backward/";
  EXPECT_EQ(select(options).cases.size(), 18U + 288U) << "those that are deterministic, and those of grouped heads";
  options.filter = "Attention/.*pass:backward/precision:bf16/impl:naive";
  EXPECT_EQ(select(options).cases.size(), 116U);
}

TEST(Selection, ASmokeSuiteHasWhatACpuCanRun) {
  const std::vector<Family> families = all_families({});
  Options options;
  Selection selection = select(options, /*has_gpu=*/false);
  const std::size_t all = selection.cases.size();
  leave_out_gpu_cases(selection, families, options);
  EXPECT_EQ(selection.need_gpu, 92U);
  EXPECT_EQ(selection.need_packages, 13U);
  EXPECT_EQ(selection.cases.size(), all - 105U);
  options.filter = "impl:fused";
  selection = select(options, /*has_gpu=*/false);
  const std::size_t fused = selection.cases.size();
  leave_out_gpu_cases(selection, families, options);
  EXPECT_EQ(selection.cases.size(), fused) << "each says why it cannot run";
  EXPECT_EQ(selection.need_gpu, 0U);
  options.filter = ".";
  options.suite = Suite::kStandard;
  selection = select(options, /*has_gpu=*/false);
  const std::size_t standard = selection.cases.size();
  leave_out_gpu_cases(selection, families, options);
  EXPECT_EQ(selection.cases.size(), standard);
}

TEST(Selection, AttentionHeadsHaveToDivideItsWidth) {
  Options options;
  options.axes = {parse_axis_override("Attention.heads=3")};
  EXPECT_THAT(error_of(options), HasSubstr("d_model 64 is not a multiple of heads 3"));
  options.axes = {parse_axis_override("Attention.heads=16"), parse_axis_override("Attention.d_model=2048"),
                  parse_axis_override("Attention.seq_len=2048")};
  options.filter = "heads:16/d_model:2048/seq_len:2048/.*impl:(sdpa_cudnn|naive)";
  EXPECT_EQ(select(options).cases.size(), 4U);  // forward and forward_backward in bf16
}

TEST(Selection, AKernelThatMakesNoSenseSaysWhyAndHowToLeaveItOut) {
  Options options;
  options.axes = {parse_axis_override("Kernel.precision=fp16")};
  EXPECT_THAT(error_of(options), HasSubstr("op:adamw has no precision:fp16: parameters, gradients and moments are "
                                           "float32 at every precision of a model; --tb_axis=Kernel.op takes"));
  options.axes.push_back(parse_axis_override("Kernel.op=rmsnorm,softmax"));
  EXPECT_THAT(error_of(options),
              HasSubstr("op:softmax has no impl:fused: expected one of aten; --tb_axis=Kernel.op "
                        "takes operations that have the pass, the precision and the implementation"));
  options.axes.push_back(parse_axis_override("Kernel.impl=aten"));
  options.filter = "^Kernel/";
  EXPECT_EQ(select(options).cases.size(), 2U * 2);  // operations, passes
}

TEST(Selection, ShardsAreTheListAndNoCaseIsInTwo) {
  for (const Suite suite : {Suite::kSmoke, Suite::kStandard, Suite::kFull}) {
    Options options;
    options.suite = suite;
    const Selection whole = select(options);
    std::multiset<std::string> names;
    for (std::int64_t index = 1; index <= 5; ++index) {
      for (const CaseId& id : select_shard(whole, Shard{index, 5})) names.insert(id.name());
    }
    std::multiset<std::string> expected;
    for (const CaseId& id : whole.cases) expected.insert(id.name());
    EXPECT_EQ(names, expected) << to_string(suite);
  }
}

TEST(Selection, AShardWithoutCasesSaysHowManyThereMayBe) {
  Options options;
  options.filter = "^Model/size:small/ctx:512/batch:4/pass:(forward|train_step)/precision:bf16/impl:sdpa$";
  const Selection two = select(options);
  EXPECT_EQ(shared_cases(two), 2);
  EXPECT_EQ(select_shard(two, Shard{2, 3}).size(), 1U);
  try {
    static_cast<void>(select_shard(two, Shard{3, 3}));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("--tb_shard=3/3: none of the 2 selected cases is in it; give at most 2 shards"));
  }
}

TEST(Selection, AStudyIsItsGridAndNothingElse) {
  Options options;
  options.study = "end_to_end";
  // 5 sizes x 5 contexts x 3 passes x 4 precisions
  EXPECT_EQ(select(options).cases.size(), 300U);
  EXPECT_EQ(select(options).cases.front().name(),
            "Model/size:small/ctx:64/batch:4/pass:forward/precision:fp32/impl:eager");
  options.sizes = {parse_model_size("mine:2048,8192,24,16")};
  options.axes = {parse_axis_override("Model.ctx=2048")};
  EXPECT_EQ(select(options).cases.size(), 6U * 3 * 4);
  options.filter = "size:mine/.*train_step/precision:bf16";
  EXPECT_EQ(select(options).cases.size(), 1U);
  EXPECT_EQ(select(options, false).suite, Suite::kStandard);  // sampled as in standard, on a CPU, too
  options.filter = "sdpa";
  EXPECT_THAT(error_of(options), HasSubstr("no case of the study end_to_end matches"));
}

TEST(Selection, AStudyTakesAnImplementationAsSoonAsTheFamilyHasIt) {
  Options options;
  options.study = "attention_grid";
  std::vector<FamilySpec> specs = specs_of(all_families({}));
  const auto attention = std::ranges::find(specs, "Attention", &FamilySpec::name);
  const auto impl = std::ranges::find(attention->keys, "impl", &KeySpec::key);
  std::erase(impl->known, "compiled");
  EXPECT_EQ(select_cases(specs, options, true).cases.size(), 6U * 7 * 2 * 2);  // widths, lengths, passes, impls
  impl->known.emplace_back("compiled");
  EXPECT_EQ(select_cases(specs, options, true).cases.size(), 6U * 7 * 2 * 2) << "without packages";
  EXPECT_EQ(select_cases(specs, options, true).need_packages, 6U * 7 * 2);
  options.packages = "packages";
  EXPECT_EQ(select_cases(specs, options, true).cases.size(), 6U * 7 * 2 * 3);
  EXPECT_EQ(select_cases(specs, options, true).need_packages, 0U);
}

TEST(Selection, AStudyKeepsCasesWithoutPackagesThatAreAskedForAlone) {
  Options options;
  options.study = "attention_grid";
  options.filter = "impl:compiled";
  EXPECT_EQ(select(options).cases.size(), 6U * 7 * 2) << "each says what it needs";
  EXPECT_EQ(select(options).need_packages, 0U);
}

TEST(Selection, AStudyWithSmallerShapesForACpuHasThemThere) {
  const std::vector<FamilySpec> specs = specs_of(all_families({}));
  Options options;
  options.study = "mine";
  const std::vector<CaseId> on_gpu = select_cases(specs, options, /*has_gpu=*/true).cases;
  const std::vector<CaseId> on_cpu = select_cases(specs, options, /*has_gpu=*/false).cases;
  EXPECT_EQ(on_gpu.size(), 12U * 2 * 5);  // shapes, passes, implementations
  EXPECT_EQ(on_cpu.size(), 12U * 2 * 2);
  for (const CaseId& id : on_cpu) EXPECT_LE(id.int_at("seq_len"), 256) << id.name();
}

TEST(Selection, EveryStudyOfTheFamiliesHereExpandsToTheirNames) {
  const std::vector<Family> families = all_families({});
  for (const studies::Study& study : studies::all_studies()) {
    const bool spans_ranks = std::ranges::any_of(families, [&](const Family& family) {
      return family.spans_ranks && family.spec.name == study.grids.front().family;
    });
    const std::vector<FamilySpec> specs = specs_of(spans_ranks ? for_ranks(families, 2) : families);
    Options options;
    options.study = study.name;
    const std::vector<CaseId> cases = select_cases(specs, options, /*has_gpu=*/true).cases;
    EXPECT_FALSE(cases.empty()) << study.name;
    for (const CaseId& id : cases) {
      const auto family = std::ranges::find(specs, id.family(), &FamilySpec::name);
      ASSERT_NE(family, specs.end()) << id.name();
      // Names contain these keys only if their values are not the defaults: exec, DataParallel's bucket_mib, and
      // Attention's deterministic, which no study uses.
      const std::vector<Axis>& axes = family->tables.front().axes;
      const auto always = std::ranges::count_if(axes, [](const Axis& axis) { return axis.unnamed.empty(); });
      ASSERT_GE(static_cast<std::ptrdiff_t>(id.parameters().size()), always) << id.name();
      ASSERT_LE(id.parameters().size(), axes.size()) << id.name();
      auto next = family->keys.begin();
      for (const auto& [key, value] : id.parameters()) {
        const auto found = std::ranges::find(next, family->keys.end(), key, &KeySpec::key);
        ASSERT_NE(found, family->keys.end()) << id.name() << ": " << key << " in its order";
        EXPECT_TRUE(found->known.empty() || std::ranges::find(found->known, value) != found->known.end()) << id.name();
        next = std::next(found);
      }
    }
  }
}

TEST(Selection, AnUnknownAxisOrValueNamesTheNearest) {
  Options options;
  options.axes = {parse_axis_override("Model.ctxt=2048")};
  EXPECT_THAT(error_of(options), HasSubstr("did you mean 'ctx'?"));
  options.axes = {parse_axis_override("Modle.ctx=2048")};
  EXPECT_THAT(error_of(options), HasSubstr("did you mean 'Model'?"));
  options.axes = {parse_axis_override("Model.precision=bf17")};
  EXPECT_THAT(error_of(options), HasSubstr("did you mean 'bf16'?"));
  options.axes = {parse_axis_override("Model.ctx=-5")};
  EXPECT_THAT(error_of(options), HasSubstr("positive whole number"));
  options.axes = {parse_axis_override("Model.size=mine")};
  EXPECT_THAT(error_of(options), HasSubstr("unknown value 'mine'"));
}

TEST(Selection, AFamilyMayHaveBothRegimesAndItsOwnCacheStates) {
  FamilySpec spec{.name = "Mixed",
                  .keys = {{"regime", {"burst", "sustained"}}},
                  .tables = {{"all", Suite::kStandard, true, {{"regime", {"burst", "sustained"}}}}},
                  .invalid_reason = {}};
  const auto names = [&] {
    Options options;
    options.l2 = L2State::kWarm;
    std::vector<std::string> found;
    for (const CaseId& id : select_cases(std::vector{spec}, options, true).cases) found.push_back(id.name());
    return found;
  };
  EXPECT_THAT(names(), ::testing::ElementsAre("Mixed/regime:burst/l2:warm", "Mixed/regime:sustained"));
  spec.has_own_l2 = true;
  EXPECT_THAT(names(), ::testing::ElementsAre("Mixed/regime:burst", "Mixed/regime:sustained"));
}

TEST(Selection, AWarmCacheIsAKeyOfBurstsAndCanBeFilteredFor) {
  const auto spec = [](const char* name, Regime regime) {
    return FamilySpec{.name = name,
                      .keys = {{"n", {}}},
                      .tables = {{"all", Suite::kStandard, true, {{"n", {"1", "2"}}}}},
                      .invalid_reason = {},
                      .regime = regime};
  };
  const std::vector<FamilySpec> specs{spec("Steps", Regime::kSustained), spec("Bursts", Regime::kBurst)};
  const auto names = [&](const Options& options) {
    std::vector<std::string> found;
    for (const CaseId& id : select_cases(specs, options, true).cases) found.push_back(id.name());
    return found;
  };
  Options options;
  EXPECT_THAT(names(options), ::testing::ElementsAre("Steps/n:1", "Steps/n:2", "Bursts/n:1", "Bursts/n:2"));
  options.l2 = L2State::kCold;
  EXPECT_THAT(names(options), ::testing::ElementsAre("Steps/n:1", "Steps/n:2", "Bursts/n:1", "Bursts/n:2"));
  options.l2 = L2State::kWarm;
  EXPECT_THAT(names(options),
              ::testing::ElementsAre("Steps/n:1", "Steps/n:2", "Bursts/n:1/l2:warm", "Bursts/n:2/l2:warm"));
  options.filter = "n:2/l2:warm$";
  EXPECT_THAT(names(options), ::testing::ElementsAre("Bursts/n:2/l2:warm"));
  // A worker receives a request for the same case.
  const CaseId asked = CaseId::parse(names(options).front());
  EXPECT_EQ(asked.at("n"), "2");
  EXPECT_TRUE(is_burst(specs, asked));
}

}  // namespace
}  // namespace tbench::bench
