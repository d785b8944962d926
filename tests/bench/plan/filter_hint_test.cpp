#include "bench/plan/filter_hint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tbench/core/case_table.hpp"

namespace tbench::bench {
namespace {

/// Makes small families: `precision:fp16` is known, but no case has it, and some case names have `exec`.
std::vector<FamilySpec> families() {
  return {
      {.name = "Model",
       .keys = {{"size", {"small", "2.7B"}},
                {"ctx", {}},
                {"pass", {"forward", "train_step"}},
                {"precision", {"fp32", "bf16", "fp16"}},
                {"impl", {"eager", "sdpa", "flash"}},
                {"exec", {"stream", "graph"}}},
       .tables = {{"all",
                   Suite::kStandard,
                   true,
                   {{"size", {"small", "2.7B"}},
                    {"ctx", {"512", "4096"}},
                    {"pass", {"forward", "train_step"}},
                    {"precision", {"fp32", "bf16"}},
                    {"impl", {"eager", "sdpa", "flash"}},
                    {"exec", {"stream", "graph"}, "stream"}}}},
       .invalid_reason = {}},
      {.name = "Attention",
       .keys = {{"d_model", {}},
                {"seq_len", {}},
                {"precision", {"fp32", "bf16"}},
                {"impl", {"naive", "sdpa_flash", "flash"}}},
       .tables = {{"all",
                   Suite::kStandard,
                   true,
                   {{"d_model", {"64"}},
                    {"seq_len", {"512", "4096"}},
                    {"precision", {"fp32", "bf16"}},
                    {"impl", {"naive", "sdpa_flash", "flash"}}}}},
       .invalid_reason = {}},
      {.name = "Collective", .keys = {{"op", {"all_reduce"}}, {"gpus", {}}}, .tables = {}, .invalid_reason = {}},
  };
}

std::optional<std::string> hint(const std::string& filter) {
  const std::vector<CaseId> cases = expand(families(), Suite::kStandard, {});
  return explain_unmatched_filter(filter, families(), cases, {});
}

struct Explained {
  std::string filter;
  std::string why;
};

void expect_hints(const std::vector<Explained>& rows) {
  for (const auto& [filter, why] : rows) EXPECT_EQ(hint(filter), why) << filter;
}

TEST(FilterHint, NamesAnUnknownFamily) {
  expect_hints({
      {"attention/.*", "no family 'attention'; did you mean 'Attention'?"},
      {"^Atention/", "no family 'Atention'; did you mean 'Attention'?"},
      {"Modle", "no family 'Modle'; did you mean 'Model'?"},
      {"Softmax/.*bf16", "no family 'Softmax' (families: Model, Attention, Collective)"},
  });
}

TEST(FilterHint, NamesAnUnknownKey) {
  const std::string keys = "(keys: d_model, seq_len, precision, impl)";
  expect_hints({
      {"Attention/.*seqlen:4096", "Attention has no key 'seqlen'; did you mean 'seq_len'?"},
      {"Attention/.*/seq-len:4096/", "Attention has no key 'seq-len'; did you mean 'seq_len'?"},
      {"Attention/.*ctx:512", "Attention has no key 'ctx'; did you mean 'seq_len'?"},
      {"Attention/.*dtype:bf16", "Attention has no key 'dtype'; did you mean 'precision'?"},
      {"Attention/.*colour:red", "Attention has no key 'colour' " + keys},
      {"seqlen:4096", "no family has the key 'seqlen'; did you mean 'seq_len'?"},
      {"l2:warm", "only bursts have the key 'l2', and only with --tb_l2=warm"},
      {"size:small/.*seq_len:512", "Model has no key 'seq_len'; did you mean 'ctx'?"},
      {"impl:flash/.*gpus:2", "no family has 'gpus:2' together with the parts before it"},
  });
}

TEST(FilterHint, NamesAnUnknownValue) {
  expect_hints({
      {"Model/.*pass:fwd", "unknown 'pass:fwd'; did you mean 'pass:forward'?"},
      {"Model/.*pass:forwrad/", "unknown 'pass:forwrad'; did you mean 'pass:forward'?"},
      {"pass:training", "unknown 'pass:training'; did you mean 'pass:train_step'?"},
      {"Model/.*precision:half/", "unknown 'precision:half'; did you mean 'precision:fp16'?"},
      {"precision:bfloat16", "unknown 'precision:bfloat16'; did you mean 'precision:bf16'?"},
      {"Attention/.*impl:flash_attention", "unknown 'impl:flash_attention'; did you mean 'impl:flash'?"},
      {"Model/.*precision:int8", "Model has no value 'precision:int8' (values: fp32, bf16, fp16)"},
      {"size:2.7b", "unknown 'size:2.7b'; did you mean 'size:2.7B'?"},
      {"bfloat16", "no case name has 'bfloat16'; did you mean 'precision:bf16'?"},
      {"Model/small/", "'small' is a value, and a ':' joins key and value; did you mean 'size:small'?"},
      {"Attention/.*BF16", "no case name has 'BF16'; did you mean 'precision:bf16'?"},
      {"Attention/.*seq_len/4096", "'seq_len' is a key, and a ':' joins key and value; did you mean 'seq_len:'?"},
      {"Attention/.*seqlen", "no case name has 'seqlen'; did you mean 'seq_len:'?"},
      {"Attention/.*seq_len:1000/",
       "no case has 'seq_len:1000' (values: 512, 4096); --tb_axis=Attention.seq_len=1000 "
       "adds some"},
      {"Attention/.*seq_len:4k", "'seq_len:4k' is not a positive whole number; did you mean 'seq_len:4096'?"},
      {"Attention/.*seq_len:long", "'seq_len:long' is not a positive whole number (values: 512, 4096)"},
      {"Attention/.*seq_len:0/", "'seq_len:0' is not a positive whole number (values: 512, 4096)"},
      {"Model/.*precision:fp16", "no case has 'precision:fp16'; --tb_axis=Model.precision=fp16 adds some"},
      {"Model/.*exec:stream", "no name has 'exec:stream', since names omit the default of 'exec'"},
  });
}

TEST(FilterHint, SaysWhichOrderCaseNamesHave) {
  const std::string order = " (order: Attention, d_model, seq_len, precision, impl)";
  expect_hints({
      {"Attention/.*/seq_len:4096/d_model:64/",
       "'d_model' comes before 'seq_len'; did you mean 'Attention/d_model:64/seq_len:4096/'?"},
      {"Model/pass:forward/size:small", "'size' comes before 'pass'; did you mean 'Model/size:small/.*pass:forward/'?"},
      {"impl:flash/.*d_model:64", "'d_model' comes before 'impl'; did you mean 'd_model:64/.*impl:flash'?"},
      {"seq_len:4096.*Attention", "'Attention' comes before 'seq_len'; did you mean 'Attention/.*seq_len:4096'?"},
      {"impl:(flash|naive)/.*precision:bf16.*seq_len:512", "'seq_len' comes before 'precision'" + order},
      {"d_model:64/impl:naive",
       "case names have seq_len, precision between 'd_model' and 'impl'; did you mean 'd_model:64/.*impl:naive'?"},
      {"Attention/seq_len:512",
       "case names have d_model between 'Attention' and 'seq_len'; did you mean 'Attention/.*seq_len:512'?"},
      {"seq_len:512/.*seq_len:4096", "a name has one 'seq_len', not 'seq_len:512' and 'seq_len:4096'"},
  });
}

TEST(FilterHint, KnowsOtherNotations) {
  expect_hints({
      {"'Attention/.*'", "the value holds quotation marks; give Attention/.*"},
      {"\"Attention/.*\"", "the value holds quotation marks; give Attention/.*"},
      {"impl:'flash'", "the value holds quotation marks; give impl:flash"},
      {" Attention/.* ", "spaces at the ends are part of the expression; did you mean 'Attention/.*'?"},
      {"Attention flash", "names have no spaces; did you mean 'Attention.*flash'?"},
      {"Attention * flash", "names have no spaces; did you mean 'Attention.*flash'?"},
      {"Model Attention", "names have no spaces; did you mean 'Model|Attention'?"},
      {"size:small&pass:forward", "names have no '&'; did you mean 'size:small/.*pass:forward'?"},
      {"Model/*/pass:forward",
       "'*' repeats the character before it, and '.*' stands for any text; did you mean 'Model/.*/pass:forward'?"},
      {"Model/.*pass=forward", "a ':' joins a key and its value; did you mean 'Model/.*pass:forward'?"},
      {"Model,Attention", "names have no commas; did you mean 'Model|Attention'?"},
      {"impl:flash,naive", "names have no commas; did you mean 'impl:(flash|naive)'?"},
      {"size:small,pass:forward", "names have no commas; did you mean 'size:small/.*pass:forward'?"},
      {"!Model", "a leading '-' selects the names that do not match; did you mean '-Model'?"},
      {"Attention/.*impl:flash/", "no name continues after the last slash; did you mean 'Attention/.*impl:flash'?"},
      {"/Attention/.*", "no name begins with a slash; did you mean 'Attention/.*'?"},
      {"Model/.*impl:eager/iterations:1/manual_time",
       "names have no suffixes of Google Benchmark; did you mean 'Model/.*impl:eager'?"},
      {"Attention//d_model:64", "names have no '//'; did you mean 'Attention/d_model:64'?"},
      {"^seq_len:512", "'^' is the beginning of a name, which is its family; did you mean 'seq_len:512'?"},
      {"seq_len:512$", "'$' is the end of a name, and names continue there; did you mean 'seq_len:512'?"},
      {"Attention.flash", "'.' stands for one character, and '.*' for any text; did you mean 'Attention.*flash'?"},
  });
}

TEST(FilterHint, ReadsEachAlternative) {
  EXPECT_THAT(hint("pass:fwd|pass:bwd").value_or(""), ::testing::StartsWith("unknown 'pass:fwd'; did you mean"));
}

TEST(FilterHint, SaysNothingOfWhatItDoesNotRecognise) {
  for (const char* const filter :
       {"NoSuch", "-.", "Model/.*impl:(fash|eagr)", "impl:[xyz]$", "flash.*bf16", "nothing &* here",
        "Model/.*eager.*forward", "impl:flash|eager.*512", "Model/.*impl:eager[[:alpha:]]", "impl:flashh?x",
        "Collective/.*gpus:2", "Collective/op:all_reduce", "Model/.*(pass:fwd)", "^$", "Model/.*impl:eager.*\\.json"}) {
    EXPECT_EQ(hint(filter), std::nullopt) << filter;
  }
}

TEST(FilterHint, KnowsTheValuesOfOtherCases) {
  const std::vector<CaseId> all = expand(families(), Suite::kStandard, {});
  const std::vector<CaseId> study{CaseId::parse("Attention/d_model:64/seq_len:4096/precision:fp32/impl:naive")};
  EXPECT_EQ(explain_unmatched_filter("Attention/.*seq_len:512", families(), study, all), std::nullopt);
  EXPECT_NE(explain_unmatched_filter("Attention/.*seq_len:512", families(), study, {}), std::nullopt);
  // A run with a launcher has only the families that span ranks.
  EXPECT_EQ(explain_unmatched_filter("Attention/", families(), all, {}), std::nullopt);
}

TEST(FilterHint, SuggestsNoAxisWhereTheTablesAreFixed) {
  const std::vector<FamilySpec> fixed{{.name = "Warmup",
                                       .keys = {{"steps", {}}},
                                       .tables = {{"all", Suite::kStandard, false, {{"steps", {"10"}}}}},
                                       .invalid_reason = {}}};
  const std::vector<CaseId> cases = expand(fixed, Suite::kStandard, {});
  EXPECT_EQ(explain_unmatched_filter("steps:20", fixed, cases, {}), "no case has 'steps:20' (values: 10)");
}

}  // namespace
}  // namespace tbench::bench
