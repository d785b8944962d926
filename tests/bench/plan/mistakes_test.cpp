// Mistakes on the command line, and what the program says to each: from the words to the selected cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/families/family.hpp"
#include "bench/plan/selection.hpp"
#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

/// Returns the message for the command line on a machine without a GPU, or "" if it selects cases.
std::string answer_to(const std::vector<std::string>& arguments) {
  std::vector<const char*> words{"transformer_bench"};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  try {
    const Options options = parse_command_line(static_cast<int>(words.size()), words.data()).options;
    static_cast<void>(select_for_launch(all_families(options.sizes), options, /*has_gpu=*/false));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

struct Mistake {
  std::vector<std::string> arguments;
  std::string answer;  // all of it if this ends in '?', otherwise its beginning
};

void expect_answers(const std::vector<Mistake>& mistakes) {
  for (const auto& [arguments, answer] : mistakes) {
    const std::string said = answer_to(arguments);
    EXPECT_THAT(said, ::testing::StartsWith(answer)) << arguments.front();
    EXPECT_TRUE(said == answer || !answer.ends_with('?')) << said;
  }
}

TEST(Mistakes, UnknownFlags) {
  expect_answers({
      {{"--filter=Attention/.*"}, "unknown flag '--filter'; did you mean '--benchmark_filter'?"},
      {{"--benchmark_repetition=3"}, "unknown flag '--benchmark_repetition'; did you mean '--benchmark_repetitions'?"},
      {{"--benchmark_list"}, "unknown flag '--benchmark_list'; did you mean '--benchmark_list_tests'?"},
      {{"-o", "out.json"}, "unknown flag '-o'; did you mean '--benchmark_out=out.json'?"},
      {{"--filter", "Attention"}, "unknown flag '--filter'; did you mean '--benchmark_filter=Attention'?"},
      {{"--repetitions=3"}, "unknown flag '--repetitions'; did you mean '--benchmark_repetitions'?"},
      {{"--output=a.json"}, "unknown flag '--output'; did you mean '--benchmark_out'?"},
      {{"--out", "a.json"}, "unknown flag '--out'; did you mean '--benchmark_out=a.json'?"},
      {{"--benchmark_output=a.json"}, "unknown flag '--benchmark_output'; did you mean '--benchmark_out'?"},
      {{"--device=cuda"}, "unknown flag '--device'; did you mean '--tb_device'?"},
      {{"--gpu"}, "unknown flag '--gpu'; did you mean '--tb_device=cuda'?"},
      {{"--list"}, "unknown flag '--list'; did you mean '--benchmark_list_tests'?"},
      {{"--gtest_filter=Model"}, "unknown flag '--gtest_filter'; did you mean '--benchmark_filter'?"},
      {{"--benchmark-filter=Model"}, "unknown flag '--benchmark-filter'; did you mean '--benchmark_filter'?"},
      {{"--tb_filter=Model"}, "unknown flag '--tb_filter'; did you mean '--benchmark_filter'?"},
      {{"--benchmark_suite=full"}, "unknown flag '--benchmark_suite'; did you mean '--tb_suite'?"},
      {{"--tb-suite=full"}, "unknown flag '--tb-suite'; did you mean '--tb_suite'?"},
      {{"-benchmark_filter=Model"}, "unknown flag '-benchmark_filter'; did you mean '--benchmark_filter'?"},
      {{"--benchmark_fliter=Model"}, "unknown flag '--benchmark_fliter'; did you mean '--benchmark_filter'?"},
      {{"--min_time=1"}, "unknown flag '--min_time'; did you mean '--benchmark_min_time'?"},
      {{"--iterations=5"}, "unknown flag '--iterations'; did you mean '--tb_samples'?"},
      {{"--plugins=a.so"}, "unknown flag '--plugins'; did you mean '--tb_plugin'?"},
      {{"--precision=bfloat16"}, "unknown flag '--precision'; did you mean '--benchmark_filter=precision:bf16'?"},
      {{"--dtype", "fp16"}, "unknown flag '--dtype'; did you mean '--benchmark_filter=precision:fp16'?"},
      {{"--batch-size=8"}, "unknown flag '--batch-size'; did you mean '--benchmark_filter=batch:8'?"},
      {{"--tb_precision=bf16"}, "unknown flag '--tb_precision'; did you mean '--benchmark_filter=precision:bf16'?"},
      {{"--benchmark_time=1"}, "unknown flag '--benchmark_time'; did you mean '--benchmark_min_time'?"},
      {{"--frobnicate=1"}, "unknown flag '--frobnicate' (--help lists all)"},
      {{"attention/.*"}, "unknown argument 'attention/.*'; did you mean '--benchmark_filter=Attention/.*'?"},
      {{"impl:flash"}, "unknown argument 'impl:flash'; did you mean '--benchmark_filter=impl:flash'?"},
      {{"benchmark_filter=Model"}, "unknown argument 'benchmark_filter=Model'; did you mean '--benchmark_filter'?"},
      {{"full"}, "unknown argument 'full'; did you mean '--tb_suite=full'?"},
      {{"scaling"}, "unknown argument 'scaling'; did you mean '--tb_study=scaling'?"},
      {{"out.json"}, "unknown argument 'out.json'; did you mean '--benchmark_out=out.json'?"},
      {{"help"}, "unknown argument 'help'; did you mean '--help'?"},
      {{"stray"}, "unknown argument 'stray' (--help lists all)"},
  });
}

TEST(Mistakes, UnknownValues) {
  expect_answers({
      {{"--tb_device=gpu"}, "--tb_device: 'gpu' is not one of auto, cuda, cpu; did you mean 'cuda'?"},
      {{"--tb_device=CUDA"}, "--tb_device: 'CUDA' is not one of auto, cuda, cpu; did you mean 'cuda'?"},
      {{"--tb_device=cuda:0"}, "--tb_device: 'cuda:0' is not one of auto, cuda, cpu; did you mean 'cuda'?"},
      {{"--tb_suite=Full"}, "--tb_suite: 'Full' is not one of smoke, standard, full; did you mean 'full'?"},
      {{"--tb_suite=quick"}, "--tb_suite: 'quick' is not one of smoke, standard, full; did you mean 'smoke'?"},
      {{"--tb_verify=no"}, "--tb_verify: 'no' is not one of twice, once; did you mean 'once'?"},
      {{"--tb_trace=true"}, "--tb_trace: 'true' is not one of on, off; did you mean 'on'?"},
      {{"--tb_l2=wamr"}, "--tb_l2: 'wamr' is not one of cold, warm; did you mean 'warm'?"},
      {{"--tb_study=end-to-end"}, "--tb_study=end-to-end: no such study; did you mean 'end_to_end'?"},
      {{"--tb_study=e2e"}, "--tb_study=e2e: no such study; did you mean 'end_to_end'?"},
      {{"--tb_study=list"}, "--tb_study=list: no such study (studies: end_to_end, "},
      {{"--tb_study=softmax"}, "--tb_study=softmax: no such study; did you mean 'softmax_vs_matmul'?"},
      {{"--tb_axis=Model.precision=bfloat16"},
       "--tb_axis=Model.precision: unknown value 'bfloat16'; did you mean 'bf16'?"},
      {{"--tb_axis=Model.pass=fwd"}, "--tb_axis=Model.pass: unknown value 'fwd'; did you mean 'forward'?"},
      {{"--tb_axis=Model.seq_len=512"}, "--tb_axis: family Model has no axis 'seq_len'; did you mean 'ctx'?"},
      {{"--tb_axis=model.ctx=512"}, "--tb_axis: no family 'model'; did you mean 'Model'?"},
      {{"--tb_device=tpu"}, "--tb_device: 'tpu' is not one of auto, cuda, cpu"},
  });
}

TEST(Mistakes, ValuesWithoutAPart) {
  expect_answers({
      {{"--tb_size=7B"},
       "--tb_size=7B: only a name; NAME:d_model,d_ff,layers,heads, e.g. "
       "7B:4096,11008,32,32"},
      {{"--tb_size=xl"}, "--tb_size=xl: 'xl' is a built-in size; --benchmark_filter=size:xl/ selects its cases"},
      {{"--tb_axis=ctx=512"}, "--tb_axis=ctx=512: no family before 'ctx'; did you mean 'Model.ctx=512'?"},
      {{"--tb_axis=seqlen=512"}, "--tb_axis=seqlen=512: no family before 'seqlen'; did you mean 'Model.ctx=512'?"},
      {{"--tb_axis=seq_len=512"},
       "--tb_axis=seq_len=512: no family before 'seq_len'; did you mean 'Attention.seq_len=512'?"},
      {{"--tb_axis=size=2.7B"}, "--tb_axis=size=2.7B: no family before 'size'; did you mean 'Model.size=2.7B'?"},
      {{"--tb_axis=Model=512"}, "--tb_axis=Model=512: no axis after 'Model'; did you mean 'Model.ctx=512'?"},
      {{"--tb_axis=Gemm=bf16"}, "--tb_axis=Gemm=bf16: no axis after 'Gemm'; did you mean 'Gemm.precision=bf16'?"},
      {{"--tb_axis=colour=red"}, "--tb_axis=colour=red: no '.' between family and axis; expected "},
      {{"--tb_axis=Model/ctx=512"},
       "--tb_axis=Model/ctx=512: not Family.key=value[,value...]; did you mean 'Model.ctx=512'?"},
      {{"--tb_axis=Model.ctx:512"},
       "--tb_axis=Model.ctx:512: not Family.key=value[,value...]; did you mean 'Model.ctx=512'?"},
      {{"--tb_axis=Model.ctx=[512; 1024]"},
       "--tb_axis=Model.ctx=[512; 1024]: not Family.key=value[,value...]; did you mean 'Model.ctx=512,1024'?"},
      {{"--tb_axis=Model.ctx=4k"}, "--tb_axis=Model.ctx: '4k' is not a positive whole number; did you mean '4096'?"},
  });
}

TEST(Mistakes, ValuesWithUnits) {
  expect_answers({
      {{"--benchmark_min_time=10x"}, "--benchmark_min_time: '10x' is a count; did you mean '--tb_samples=10'?"},
      {{"--benchmark_min_warmup_time=5x"},
       "--benchmark_min_warmup_time: '5x' is a count; did you mean '--tb_warmup=5'?"},
      {{"--benchmark_min_time=500ms"}, "--benchmark_min_time: '500ms' is not a number of seconds; did you mean '0.5'?"},
      {{"--tb_timeout=2m"}, "--tb_timeout: '2m' is not a number of seconds; did you mean '120'?"},
      {{"--tb_timeout=10x"}, "--tb_timeout: '10x' is not a number of seconds, e.g. 0.5"},
      {{"--tb_stop_after=8h"}, "--tb_stop_after: '8h' is not a number of seconds; did you mean '28800'?"},
      {{"--benchmark_repetitions=3x"},
       "--benchmark_repetitions: '3x' is not a whole number of at least 1; did you mean '3'?"},
      {{"--tb_samples=1e3"}, "--tb_samples: '1e3' is not a whole number of at least 1; did you mean '1000'?"},
      {{"--tb_samples=100ms"}, "--tb_samples: '100ms' is a time; did you mean '--benchmark_min_time=0.1'?"},
      {{"--tb_warmup=2s"}, "--tb_warmup: '2s' is a time; did you mean '--benchmark_min_warmup_time=2'?"},
      {{"--tb_shard=1of4"}, "--tb_shard: '1of4' is not I/N with 1 <= I <= N; did you mean '1/4'?"},
      {{"--tb_shard=2-4"}, "--tb_shard: '2-4' is not I/N with 1 <= I <= N; did you mean '2/4'?"},
      {{"--tb_shard=0-4"}, "--tb_shard: '0-4' is not I/N with 1 <= I <= N, e.g. 2/4"},
      {{"--tb_plant=Model/ctx:64:5%"},
       "--tb_plant: 'Model/ctx:64:5%' is not CASE:SHARE with a share above 0 and at most 1; did you mean "
       "'Model/ctx:64:0.05'?"},
      {{"--tb_samples=0x"}, "--tb_samples: '0x' is not a whole number of at least 1"},
      {{"--tb_memory_limit=16GiB"}, "--tb_memory_limit: '16GiB' is not a number of GiB above 0; did you mean '16'?"},
      {{"--benchmark_context=rack:7"}, "--benchmark_context: 'rack:7' is not key=value; did you mean 'rack=7'?"},
  });
}

/// Returns the mistake of a filter.
Mistake filter(const std::string& text, const std::string& answer) {
  return {{"--benchmark_filter=" + text}, "--benchmark_filter: " + answer};
}

TEST(Mistakes, FiltersThatMatchNothing) {
  expect_answers({
      filter("attention/.*", "no family 'attention'; did you mean 'Attention'?"),
      filter("Attention/.*seqlen:4096", "Attention has no key 'seqlen'; did you mean 'seq_len'?"),
      filter("Model/.*pass:fwd", "unknown 'pass:fwd'; did you mean 'pass:forward'?"),
      filter("Attention/.*precision:bfloat16", "unknown 'precision:bfloat16'; did you mean 'precision:bf16'?"),
      filter("Model/.*precision:BF16", "unknown 'precision:BF16'; did you mean 'precision:bf16'?"),
      filter("Attention/.*impl:flash_attention", "unknown 'impl:flash_attention'; did you mean 'impl:flash'?"),
      filter("not Model", "a leading '-' selects the names that do not match; did you mean '-Model'?"),
      filter("~Model", "a leading '-' selects the names that do not match; did you mean '-Model'?"),
      filter("'Attention/.*'", "the value holds quotation marks; give Attention/.*"),
      {{"--benchmark_filter=*Attention*"},
       "--benchmark_filter: '*Attention*' is not an extended regular expression: '*' at its beginning repeats nothing; "
       "did you mean 'Attention'?"},
      filter("Attention/.*/seq_len:4096/d_model:64/",
             "'d_model' comes before 'seq_len'; did you mean 'Attention/.*d_model:64/seq_len:4096/'?"),
  });
}

TEST(Mistakes, FiltersOfAStudy) {
  const std::string study = "--tb_study=end_to_end";
  EXPECT_THAT(answer_to({study, "--benchmark_filter=pass:fwd"}), ::testing::HasSubstr("did you mean 'pass:forward'?"));
  EXPECT_THAT(answer_to({study, "--benchmark_filter=Attention/.*"}),
              ::testing::HasSubstr("no case of the study end_to_end matches"));
}

TEST(Mistakes, RightFiltersWhoseCasesAreElsewhere) {
  EXPECT_THAT(answer_to({"--benchmark_filter=Model/size:xl/"}), ::testing::HasSubstr("--tb_suite=full has "));
  EXPECT_THAT(answer_to({"--benchmark_filter=Collective/.*bytes:1024/"}), ::testing::HasSubstr("with ranks there are"));
}

TEST(Mistakes, NothingNearIsNotSuggested) {
  EXPECT_THAT(answer_to({"--tb_device=tpu"}), ::testing::Not(::testing::HasSubstr("did you mean")));
  EXPECT_THAT(answer_to({"--tb_samples=0x"}), ::testing::Not(::testing::HasSubstr("did you mean")));
  EXPECT_THAT(answer_to({"--tb_axis=Model.precision=int8"}), ::testing::Not(::testing::HasSubstr("did you mean")));
}

}  // namespace
}  // namespace tbench::bench
