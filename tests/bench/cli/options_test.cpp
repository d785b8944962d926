#include "bench/cli/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::bench {
namespace {

using ::testing::HasSubstr;

ParsedCommandLine parse(const std::vector<std::string>& flags) {
  std::vector<const char*> words{"transformer_bench"};
  for (const std::string& flag : flags) words.push_back(flag.c_str());
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

/// Returns the message of the error that the flags cause, or "" if there is none.
std::string error_of(const std::vector<std::string>& flags) {
  try {
    static_cast<void>(parse(flags));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, NothingGivenMeansTheDefaults) {
  const Options options = parse({}).options;
  EXPECT_EQ(options.filter, ".");
  EXPECT_FALSE(options.suite.has_value());
  EXPECT_EQ(options.isolation, Isolation::kRun);
  EXPECT_EQ(options.repetitions, 1);
  EXPECT_DOUBLE_EQ(options.timeout.value, 120.0);
  EXPECT_FALSE(options.fixed_samples.has_value());
  EXPECT_FALSE(options.l2.has_value());
  EXPECT_EQ(options.ceilings, CeilingChoice::kAuto);
  EXPECT_FALSE(options.verify_again.has_value());
  EXPECT_FALSE(options.trace);
  EXPECT_EQ(options.profile, "");
}

TEST(Options, SaysWhatWasBuilt) {
  EXPECT_THAT(parse({"--version"}).help.value_or(""),
              ::testing::MatchesRegex("transformer_bench [0-9.]+, commit .+\n"));
}

TEST(Options, StandardOutputIsNoFile) {
  EXPECT_EQ(error_of({"--benchmark_out=-"}),
            "--benchmark_out=-: standard output is not a file; use --benchmark_format=json");
}

TEST(Options, APageHasItsResultsBesideItUnlessTheUserSaysWhere) {
  EXPECT_EQ(parse({"--tb_page=mine.html"}).options.out, "mine.json.gz");
  EXPECT_EQ(parse({"--tb_page=mine.html", "--benchmark_out=a.json"}).options.out, "a.json");
  EXPECT_EQ(parse({}).options.out, "");
  EXPECT_THAT(error_of({"--tb_page=mine.pdf"}),
              HasSubstr("--tb_page: 'mine.pdf' does not end in .html: give FILE.html"));
  EXPECT_THAT(error_of({"--tb_page=/nowhere/mine.html"}),
              HasSubstr("there is no folder '/nowhere' that can be written"));
}

TEST(Options, APluginIsALibraryPackageOrFunctionThatIsThere) {
  EXPECT_THAT(error_of({"--tb_plugin=mine.o"}),
              HasSubstr("--tb_plugin: 'mine.o' is neither a shared library, FILE.so, nor a package, FILE.pt2"));
  EXPECT_THAT(error_of({"--tb_plugin=/nowhere/mine.pt2"}), HasSubstr("there is no file '/nowhere/mine.pt2'"));
  EXPECT_THAT(error_of({"--tb_plugin=/nowhere/libmine.so"}), HasSubstr("there is no file '/nowhere/libmine.so'"));
  EXPECT_THAT(error_of({"--tb_plugin=/nowhere/mine.py:mine"}), HasSubstr("there is no file '/nowhere/mine.py'"));
  for (const char* const text : {"mine.py", "mine.py:"}) {
    EXPECT_THAT(error_of({std::string{"--tb_plugin="} + text}),
                HasSubstr("names no function: give FILE.py:FUNCTION, as in attention.py:attention"));
  }
  EXPECT_THAT(error_of({"--tb_plugin="}), HasSubstr("--tb_plugin"));
  EXPECT_TRUE(parse({}).options.plugins.empty());
}

TEST(Options, AStudyOfTracesTraces) {
  EXPECT_EQ(parse({"--tb_study=top_kernels"}).options.trace, true);
  EXPECT_EQ(parse({"--tb_study=top_kernels", "--tb_trace=off"}).options.trace, true);
  EXPECT_EQ(parse({"--tb_study=precision"}).options.trace, std::nullopt);
  EXPECT_EQ(parse({"--tb_study=precision", "--tb_trace=off"}).options.trace, false);
}

TEST(Options, AProfileIsATraceOfOneProcess) {
  const Options options = parse({"--tb_profile=out"}).options;
  EXPECT_EQ(options.profile, "out");
  EXPECT_TRUE(options.trace);
  EXPECT_THAT(error_of({"--tb_profile=out", "--tb_processes=3"}), HasSubstr("--tb_profile=out: not together with"));
}

TEST(Options, AShardIsOneOfSeveral) {
  EXPECT_FALSE(parse({}).options.shard.has_value());
  EXPECT_EQ(parse({"--tb_shard=2/4"}).options.shard, (Shard{2, 4}));
  for (const char* text : {"0/4", "5/4", "2", "2/4/8", "a/b", "2/0"}) {
    EXPECT_THAT(error_of({std::string{"--tb_shard="} + text}), HasSubstr("is not I/N with 1 <= I <= N, e.g. 2/4"));
  }
}

TEST(Options, EveryFlagReachesItsField) {
  const Options options = parse({"--benchmark_filter=Model/.*$",
                                 "--tb_suite=full",
                                 "--tb_axis=Model.ctx=2048,4096",
                                 "--tb_axis=Model.batch=1",
                                 "--tb_size=mine:2048,8192,24,16",
                                 "--tb_device=cpu",
                                 "--tb_seed=7",
                                 "--benchmark_min_time=0.25s",
                                 "--benchmark_min_warmup_time=2",
                                 "--benchmark_repetitions=3",
                                 "--tb_warmup=0",
                                 "--tb_samples=10",
                                 "--tb_l2=warm",
                                 "--tb_verify=once",
                                 "--tb_trace=on",
                                 "--tb_ceilings=off",
                                 "--tb_order_seed=20261123",
                                 "--tb_plant=Model/size:small/pass:forward:0.05",
                                 "--tb_isolate=case",
                                 "--tb_timeout=30",
                                 "--tb_durations=h100.csv",
                                 "--tb_stop_after=480",
                                 "--tb_clock_policy=locked-base",
                                 "--tb_anonymous",
                                 "--tb_memory_limit=16.5",
                                 "--benchmark_out=a.json",
                                 "--tb_resume",
                                 "--benchmark_format=json",
                                 "--benchmark_color=false",
                                 "--benchmark_context=rack=7",
                                 "--benchmark_list_tests=true",
                                 "--tb_require_exclusive",
                                 "--tb_skip_oversize"})
                              .options;
  EXPECT_EQ(options.filter, "Model/.*$");
  EXPECT_EQ(options.suite, Suite::kFull);
  ASSERT_EQ(options.axes.size(), 2U);
  EXPECT_EQ(options.axes[0].axis.values, (std::vector<std::string>{"2048", "4096"}));
  EXPECT_EQ(options.axes[1].axis.key, "batch");
  ASSERT_EQ(options.sizes.size(), 1U);
  EXPECT_EQ(options.sizes[0].d_ff, 8192);
  EXPECT_EQ(options.device, DeviceChoice::kCpu);
  EXPECT_EQ(options.seed, 7U);
  EXPECT_DOUBLE_EQ(options.min_time->value, 0.25);
  EXPECT_DOUBLE_EQ(options.min_warm_up_time->value, 2.0);
  EXPECT_EQ(options.repetitions, 3);
  EXPECT_EQ(options.fixed_warm_up, 0);
  EXPECT_EQ(options.fixed_samples, 10);
  EXPECT_EQ(options.l2, L2State::kWarm);
  EXPECT_EQ(options.verify_again, false);
  EXPECT_TRUE(options.trace);
  EXPECT_EQ(options.ceilings, CeilingChoice::kOff);
  EXPECT_EQ(options.order_seed, 20261123U);
  ASSERT_TRUE(options.plant.has_value());
  EXPECT_EQ(options.plant->name, "Model/size:small/pass:forward");
  EXPECT_DOUBLE_EQ(options.plant->share, 0.05);
  EXPECT_EQ(options.isolation, Isolation::kCase);
  EXPECT_DOUBLE_EQ(options.timeout.value, 30.0);
  EXPECT_EQ(options.durations, "h100.csv");
  EXPECT_EQ(options.stop_after, Seconds{480});
  EXPECT_EQ(options.clock_policy, "locked-base");
  EXPECT_TRUE(options.anonymous);
  EXPECT_EQ(options.memory_limit_gib, 16.5);
  EXPECT_EQ(options.out, "a.json");
  EXPECT_TRUE(options.resume && options.json_on_stdout && options.list_only);
  EXPECT_TRUE(options.require_exclusive && options.skip_oversize);
  EXPECT_EQ(options.color, ColorChoice::kNever);
  EXPECT_EQ(options.context, (std::vector<std::pair<std::string, std::string>>{{"rack", "7"}}));
}

TEST(Options, HelpTellsEveryFlagGrouped) {
  const std::string help = parse({"--help"}).help.value();
  for (const char* text : {"What is measured", "How it is measured", "Output", "--benchmark_filter", "--tb_axis",
                           "--benchmark_out", "--tb_resume", "--tb_timeout", "--tb_l2", "120"}) {
    EXPECT_THAT(help, HasSubstr(text));
  }
  EXPECT_THAT(help, ::testing::Not(HasSubstr("tb_worker")));
  EXPECT_THAT(help, HasSubstr("\n  --tb_verify twice|once "));
  EXPECT_THAT(help, HasSubstr("\nExamples:\n  transformer_bench --benchmark_out="));
  for (const std::string& line : split(help, '\n')) EXPECT_LE(line.size(), 100U) << line;
}

TEST(Options, AnUnknownFlagNamesTheNearest) {
  EXPECT_THAT(error_of({"--benchmark_fliter=x"}), HasSubstr("did you mean '--benchmark_filter'?"));
  EXPECT_THAT(error_of({"--tb_suit=full"}), HasSubstr("did you mean '--tb_suite'?"));
  EXPECT_THAT(error_of({"stray"}), HasSubstr("unknown argument 'stray'"));
}

TEST(Options, ResultsHaveNoNameOfATableOrAPage) {
  EXPECT_EQ(error_of({"--benchmark_out=a.csv"}),
            "--benchmark_out: 'a.csv': writes JSON; give a name that ends in .json");
  EXPECT_EQ(error_of({"--benchmark_out=a.html"}),
            "--benchmark_out: 'a.html' does not name a results file; did you mean '--tb_page=a.html'?");
}

TEST(Options, AFlagWithoutItsValueNamesIt) {
  EXPECT_EQ(error_of({"--tb_suite"}), "--tb_suite: no value; write --tb_suite=smoke|standard|full");
  EXPECT_EQ(error_of({"--benchmark_out"}), "--benchmark_out: no value; write --benchmark_out=FILE.json");
}

TEST(Options, AGoogleBenchmarkFlagWithoutMeaningHereSaysWhatDoesTheJob) {
  EXPECT_THAT(error_of({"--benchmark_time_unit=us"}), HasSubstr("not supported"));
  EXPECT_THAT(error_of({"--benchmark_out=a.json", "--benchmark_out_format=csv"}), HasSubstr("tbench report"));
}

struct BadValue {
  const char* flag;
  const char* expected;  // must occur in the message
};

class OptionsBadValue : public ::testing::TestWithParam<BadValue> {};

TEST_P(OptionsBadValue, IsRefusedWithTheFlagTheValueAndTheRemedy) {
  const std::string message = error_of({GetParam().flag});
  EXPECT_THAT(message, HasSubstr(GetParam().expected));
  const std::string flag = std::string{GetParam().flag}.substr(0, std::string{GetParam().flag}.find('='));
  EXPECT_THAT(message, HasSubstr(flag));
}

INSTANTIATE_TEST_SUITE_P(
    All, OptionsBadValue,
    ::testing::Values(
        BadValue{"--tb_suite=ful", "did you mean 'full'?"},
        BadValue{"--tb_device=tpu", "'tpu' is not one of auto, cuda, cpu"},
        BadValue{"--tb_stop_after=0", "Give a number of seconds above 0"},
        BadValue{"--benchmark_min_time=fast", "seconds"}, BadValue{"--benchmark_min_time=-1", "seconds"},
        BadValue{"--benchmark_min_time=nan", "seconds"}, BadValue{"--benchmark_min_time=1.5x", "seconds"},
        BadValue{"--tb_timeout=0", "more than 0"}, BadValue{"--benchmark_repetitions=0", "at least 1"},
        BadValue{"--tb_memory_limit=0", "above 0"}, BadValue{"--tb_memory_limit=1e999", "above 0"},
        BadValue{"--tb_memory_limit=16GiB", "a number of GiB"}, BadValue{"--tb_processes=0", "at least 1"},
        BadValue{"--tb_warmup=-1", "at least 0"}, BadValue{"--tb_packages=/no/such/folder", "a folder"},
        BadValue{"--tb_packages=/proc", "no .pt2 file"}, BadValue{"--tb_samples=0", "at least 1"},
        BadValue{"--tb_samples=ten", "whole number"}, BadValue{"--tb_seed=-3", "at least 0"},
        BadValue{"--benchmark_filter=Model/(", "regular expression"}, BadValue{"--tb_axis=Model.ctx", "no '='"},
        BadValue{"--tb_plant=Model/ctx:64", "share above 0"}, BadValue{"--tb_plant=:0.05", "CASE:SHARE"},
        BadValue{"--tb_plant=Model/ctx:64:0", "share above 0"},
        BadValue{"--tb_plant=Model/ctx:64:big", "e.g. CASE:0.05"}, BadValue{"--tb_order_seed=today", "whole number"},
        BadValue{"--tb_axis=ctx=1", "no family before 'ctx'"}, BadValue{"--tb_axis=Model.ctx=1,,2", "empty value"},
        BadValue{"--tb_size=mine", "only a name"}, BadValue{"--tb_size=mine:1,2,3", "3 numbers instead of 4"},
        BadValue{"--tb_size=small:64,256,2,4", "built-in"}, BadValue{"--benchmark_context=rack", "key=value"},
        BadValue{"--tb_l2=warn", "did you mean 'warm'?"}, BadValue{"--tb_l2=hot", "cold, warm"},
        BadValue{"--tb_verify=never", "twice, once"}, BadValue{"--tb_ceilings=no", "auto, on, off"},
        BadValue{"--tb_resume", "--benchmark_out"}, BadValue{"--benchmark_format=csv", "console, json"}));

TEST(Options, ProcessesAreTheReplicates) {
  EXPECT_EQ(parse({}).options.processes, 1);
  EXPECT_EQ(parse({"--tb_processes=5", "--tb_isolate=case"}).options.processes, 5);
  EXPECT_THAT(error_of({"--tb_processes=5", "--benchmark_repetitions=2"}), HasSubstr("a replicate is a process"));
  EXPECT_THAT(error_of({"--tb_processes=5", "--tb_isolate=none"}), HasSubstr("--tb_isolate=none"));
  EXPECT_EQ(error_of({"--tb_processes=1", "--benchmark_repetitions=2", "--tb_isolate=none"}), "");
}

TEST(Options, AStudyHasItsOwnCases) {
  EXPECT_EQ(parse({"--tb_study=scaling"}).options.study, "scaling");
  EXPECT_THAT(error_of({"--tb_study=scalign"}), ::testing::StartsWith("--tb_study=scalign: no such study; did you mean "
                                                                      "'scaling'?"));
  EXPECT_THAT(error_of({"--tb_study=scaling", "--tb_suite=full"}), HasSubstr("not together with --tb_suite"));
}

TEST(Options, AnInputIsNeverAnOutput) {
  // Makes the folder without std::filesystem, parts of which do not work next to LibTorch.
  std::string folder = testing::TempDir() + "tbench-options-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string table = folder + "/h100.csv";
  const std::string link = folder + "/link.json";
  const std::string function = folder + "/attention.py";
  std::ofstream{table} << "a table";
  std::ofstream{function} << "def attention(q, k, v): return q";
  ASSERT_EQ(::symlink(table.c_str(), link.c_str()), 0);
  EXPECT_EQ(error_of({"--tb_durations=" + table, "--benchmark_out=" + folder + "/new.json"}), "");
  for (const std::string& out : {table, link}) {
    EXPECT_THAT(error_of({"--tb_durations=" + table, "--benchmark_out=" + out}),
                HasSubstr("--benchmark_out=" + out + ": that file is an input of this run: give another name"));
  }
  EXPECT_THAT(error_of({"--tb_plugin=" + function + ":attention", "--benchmark_out=" + function}),
              HasSubstr("is an input of this run"));
  for (const std::string& file : {table, link, function}) ::unlink(file.c_str());
  ::rmdir(folder.c_str());
}

TEST(Options, ASizeMayNotBeGivenTwice) {
  EXPECT_THAT(error_of({"--tb_size=a:64,256,2,4", "--tb_size=a:64,256,2,4"}), HasSubstr("twice"));
}

}  // namespace
}  // namespace tbench::bench
