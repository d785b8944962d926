#include "tbench/core/hints/suggestions.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tbench {
namespace {

using Names = std::vector<std::string>;

const Names kPrecisions{"fp32", "tf32", "bf16", "fp16", "fp8_e4m3"};
const Names kImpls{"naive", "compiled", "sdpa_flash", "sdpa_efficient", "sdpa_cudnn", "flash"};
const Names kPasses{"forward", "backward", "forward_backward", "train_step"};

struct Typed {
  std::string text;
  Names candidates;
  std::optional<std::string> meant;
};

TEST(SuggestValue, FindsWhatIsMeant) {
  const std::vector<Typed> rows{
      // another case or another separator
      {"BF16", kPrecisions, "bf16"},
      {"end-to-end", {"end_to_end", "warmup"}, "end_to_end"},
      {"attention", {"Model", "Attention"}, "Attention"},
      {"2.7b", {"small", "2.7B"}, "2.7B"},
      {"FP8E4M3", kPrecisions, "fp8_e4m3"},
      {"train step", kPasses, "train_step"},
      // synonyms
      {"gpu", {"auto", "cuda", "cpu"}, "cuda"},
      {"gpu:0", {"auto", "cuda", "cpu"}, "cuda"},
      {"bfloat16", kPrecisions, "bf16"},
      {"half", kPrecisions, "fp16"},
      {"float32", kPrecisions, "fp32"},
      {"fp8", kPrecisions, "fp8_e4m3"},
      {"fwd", kPasses, "forward"},
      {"bwd", kPasses, "backward"},
      {"fwd_bwd", kPasses, "forward_backward"},
      {"training", kPasses, "train_step"},
      {"flash_attention", kImpls, "flash"},
      {"FlashAttention-2", kImpls, "flash"},
      {"flash", {"naive", "sdpa_flash"}, "sdpa_flash"},
      {"cudnn", kImpls, "sdpa_cudnn"},
      {"torch.compile", kImpls, "compiled"},
      {"seqlen", {"batch", "seq_len"}, "seq_len"},
      {"seqlen", {"batch", "ctx"}, "ctx"},
      // the beginning of a name
      {"sdpa_eff", kImpls, "sdpa_efficient"},
      {"softmax", {"scaling", "softmax_vs_matmul"}, "softmax_vs_matmul"},
      {"bf", kPrecisions, "bf16"},
      {"fp", kPrecisions, std::nullopt},  // of several
      // a misspelling
      {"bf17", kPrecisions, "bf16"},
      {"wamr", {"cold", "warm"}, "warm"},
      {"Atention", {"Model", "Attention"}, "Attention"},
      {"forwrad", kPasses, "forward"},
      // words
      {"best", {"cublaslt_heuristic", "cublaslt_best"}, "cublaslt_best"},
      {"my_flash_v9", kImpls, "flash"},
      // nothing is near
      {"tpu", {"auto", "cuda", "cpu"}, std::nullopt},
      {"int8", kPrecisions, std::nullopt},
      {"fp64", kPrecisions, std::nullopt},
      {"4", {"0", "1", "2", "10"}, std::nullopt},
      {"", kPrecisions, std::nullopt},
      {".*", kPrecisions, std::nullopt},
      {"flash", {}, std::nullopt},
  };
  for (const auto& [text, candidates, meant] : rows) EXPECT_EQ(suggest_value(text, candidates), meant) << text;
}

TEST(DidYouMeanValue, IsASentenceOrNothing) {
  EXPECT_EQ(did_you_mean_value("half", kPrecisions), "; did you mean 'fp16'?");
  EXPECT_EQ(did_you_mean_value("int8", kPrecisions), "");
}

TEST(SuggestFlag, ComparesNamesWithoutTheirPrefixes) {
  const Names flags{"--benchmark_filter",
                    "--benchmark_list_tests",
                    "--benchmark_out",
                    "--benchmark_repetitions",
                    "--benchmark_format",
                    "--tb_suite",
                    "--tb_device",
                    "--tb_seed",
                    "--tb_l2",
                    "--tb_samples",
                    "--benchmark_min_time"};
  constexpr std::array<FlagSynonym, 2> kSynonyms{{{"o", "--benchmark_out"}, {"gpu", "--tb_device=cuda"}}};
  const std::vector<std::pair<std::string, std::optional<std::string>>> rows{
      {"--filter", "--benchmark_filter"},
      {"-filter", "--benchmark_filter"},
      {"filter", "--benchmark_filter"},
      {"--tb_filter", "--benchmark_filter"},
      {"--gtest_filter", "--benchmark_filter"},
      {"--benchmark-filter", "--benchmark_filter"},
      {"--Benchmark_Filter", "--benchmark_filter"},
      {"\u2014benchmark_filter", "--benchmark_filter"},
      {"--benchmark_device", "--tb_device"},
      {"--l2", "--tb_l2"},
      {"-o", "--benchmark_out"},
      {"--gpu", "--tb_device=cuda"},
      {"--benchmark_list", "--benchmark_list_tests"},
      {"--benchmark_repetition", "--benchmark_repetitions"},
      {"--rep", "--benchmark_repetitions"},
      {"--benchmark_fliter", "--benchmark_filter"},
      {"--tb_sede", "--tb_seed"},
      {"--suit", "--tb_suite"},
      {"--num-samples", "--tb_samples"},
      {"--time", "--benchmark_min_time"},
      {"--benchmark_samples_", "--tb_samples"},
      {"--benchmark_format_seed", "--benchmark_format"},
      {"--tb_format_seed", "--tb_seed"},
      {"--quiet", std::nullopt},
      {"--output_format", "--benchmark_format"},
      {"--nothing", std::nullopt},
      {"--x", std::nullopt},
      {"--", std::nullopt},
  };
  for (const auto& [typed, meant] : rows) EXPECT_EQ(suggest_flag(typed, flags, kSynonyms), meant) << typed;
}

TEST(WithSuggestion, ListsWhatFitsIntoALineIfNothingIsNear) {
  EXPECT_EQ(with_suggestion("no 'half'", "half", kPrecisions, "values"), "no 'half'; did you mean 'fp16'?");
  EXPECT_EQ(with_suggestion("no 'int8'", "int8", kPrecisions, "values"),
            "no 'int8' (values: fp32, tf32, bf16, fp16, fp8_e4m3)");
  const Names many(40, "candidate");
  const std::string message = with_suggestion("no 'x'", "x", many, "values");
  EXPECT_TRUE(message.ends_with("candidate, ...)"));
  EXPECT_LE(std::string{"transformer_bench: "}.size() + message.size(), 100U);
}

TEST(TypedFlagTest, HasTheValueAfterAnEqualsSignOrOfTheNextArgument) {
  const Names joined{"--out=a=b", "c"};
  EXPECT_EQ(typed_flag(joined).name, "--out");
  EXPECT_EQ(typed_flag(joined).value, "a=b");
  EXPECT_TRUE(typed_flag(joined).has_equals);
  const Names separate{"--out", "a"};
  EXPECT_EQ(typed_flag(separate).value, "a");
  EXPECT_TRUE(typed_flag(separate).is_separate);
  const Names flags{"--out", "--all"};
  EXPECT_EQ(typed_flag(flags).value, "");
  const Names words{"out", "a"};
  EXPECT_EQ(typed_flag(words).value, "");
}

}  // namespace
}  // namespace tbench
