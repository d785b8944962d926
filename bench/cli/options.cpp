#include "bench/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "bench/cli/axis_hint.hpp"
#include "bench/cli/build_info.hpp"
#include "bench/cli/flag_hint.hpp"
#include "bench/cli/google_benchmark_flags.hpp"
#include "bench/cli/model_config.hpp"
#include "bench/cli/option_checks.hpp"
#include "bench/cli/option_rules.hpp"
#include "bench/cli/value_forms.hpp"
#include "bench/families/family.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/help.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::bench {
namespace {

/// One group of options in --help.
struct Group {
  CLI::App& app;
  std::string name;

  template <class... Arguments>
  CLI::Option* option(Arguments&&... arguments) const {
    return app.add_option(std::forward<Arguments>(arguments)...)->group(name);
  }
  CLI::Option* flag(const std::string& flag, bool& target, const std::string& help) const {
    return app.add_flag(flag, target, help)->group(name);
  }
  /// Calls `use` with every value of a repeatable option.
  template <class Use>
  CLI::Option* each(const std::string& flag, Use use, const std::string& help) const {
    const auto use_all = [use](const std::vector<std::string>& values) {
      for (const std::string& value : values) use(value);
    };
    return app.add_option_function<std::vector<std::string>>(flag, use_all, help)->group(name)->allow_extra_args(false);
  }
  template <class Target>
  CLI::Option* seconds_option(const std::string& flag, Target& target, const std::string& help,
                              const std::string& count_flag = {}) const {
    const auto set = [&target](double value) { target = Seconds{value}; };
    return app.add_option_function<double>(flag, set, help)->group(name)->transform(seconds(count_flag));
  }
};

void add_size(const std::string& text, std::vector<ModelSize>& sizes) {
  const ModelSize size = parse_size_option(text);
  if (std::ranges::find(sizes, size.name, &ModelSize::name) != sizes.end()) {
    throw UsageError{fmt::format("--tb_size={}: the size '{}' is given twice", text, size.name)};
  }
  sizes.push_back(size);
}

void declare_selection(CLI::App& app, Options& options) {
  const Group group{app, "What is measured"};
  group
      .option("--benchmark_filter", options.filter,
              "Run the cases whose name matches this extended regular expression; a leading '-' inverts the match")
      ->capture_default_str();
  group.flag(
      "--benchmark_list_tests", options.list_only,
      "List the selected cases and exit, without touching a GPU; stderr says how many and about how long they take");
  group
      .option(
          "--tb_explain", options.explain,
          "Print which of our attention kernels each selected case runs on DEVICE (here, a100, h100, h200) and why, "
          "then exit. Without --tb_suite, selects from all suites. Only here needs a GPU")
      ->type_name("DEVICE");
  group
      .option("--tb_suite", options.suite,
              "smoke: a few seconds, on a CPU too; standard: the cases people ask for first; full: every case "
              "[default: standard with a GPU, else smoke]")
      ->transform(one_of<Suite>({{"smoke", Suite::kSmoke}, {"standard", Suite::kStandard}, {"full", Suite::kFull}}));
  group.option("--tb_study", options.study,
               fmt::format("Run exactly the cases of these studies (NAME or NAME,NAME...), which 'tbench report "
                           "--study' shows, by their protocols: {}",
                           fmt::join(studies::known_study_names(), ", ")));
  group.each(
      "--tb_axis", [&](const std::string& text) { options.axes.push_back(parse_axis(text)); },
      "Family.key=v1,v2: replace an axis of the family's course grid (repeatable)");
  group.each(
      "--tb_size", [&](const std::string& text) { add_size(text, options.sizes); },
      fmt::format("NAME:d_model,d_ff,num_layers,num_heads and, each after a comma, any of kv_heads=N, head_dim=N, "
                  "vocab=N, theta=X, tied and qk_norm; or NAME:@FILE with the config.json of a published model: add a "
                  "model size to the built-in {} (repeatable)",
                  join(size_names(builtin_model_sizes()), ", ")));
  app.add_option_function<std::string>(
         "--tb_shard", [&options](const std::string& text) { options.shard = shard_of(text); },
         "I/N: run only part I of N of the selected cases, to split a run across machines or the tasks of a job array; "
         "with known durations, all parts take about equally long; 'tbench merge' joins the files")
      ->type_name("I/N")
      ->group(group.name);
  group
      .option(
          "--tb_durations", options.durations,
          "Table of case durations, written by 'tbench durations', for estimates, shards and --tb_stop_after; off: use "
          "no table [default: the built-in table of the GPU]")
      ->type_name("FILE");
  group.option("--tb_device", options.device, "auto, cuda or cpu")
      ->transform(one_of<DeviceChoice>(
          {{"auto", DeviceChoice::kAuto}, {"cuda", DeviceChoice::kCuda}, {"cpu", DeviceChoice::kCpu}}))
      ->default_str("auto");
  group.option("--tb_seed", options.seed, "Seed of weights and inputs")->check(whole_number(0))->capture_default_str();
}

void declare_sampling(CLI::App& app, Options& options) {
  const Group group{app, "How it is measured"};
  group.seconds_option(
      "--benchmark_min_time", options.min_time,
      "Sample for at least this many seconds [default: 0.5; 0.1 for kernels; a fifth of that in the smoke suite]",
      "--tb_samples");
  group.seconds_option(
      "--benchmark_min_warmup_time", options.min_warm_up_time,
      "Warm up for at least this many seconds [default: 1; 0.2 for kernels; a fifth of that in the smoke suite]",
      "--tb_warmup");
  group.option("--benchmark_repetitions", options.repetitions, "Measure every case this many times in its process")
      ->check(whole_number(1))
      ->capture_default_str();
  group
      .option("--tb_processes", options.processes,
              "Measure every case in this many fresh processes, each in a random order of the cases: the replicates "
              "that 'tbench diff' compares")
      ->check(whole_number(1))
      ->capture_default_str();
  group
      .option("--tb_order_seed", options.order_seed,
              "Seed of the order of cases in each process of --tb_processes; change it for every nightly run [default: "
              "the value of --tb_seed]")
      ->check(whole_number(0));
  group
      .option("--tb_warmup", options.fixed_warm_up,
              "Exactly this many warm-up steps or launches, 0 included [default: until steady]")
      ->check(whole_number(0, "--benchmark_min_warmup_time"));
  group
      .option("--tb_samples", options.fixed_samples, "Exactly this many samples, none dropped [default: until precise]")
      ->check(whole_number(1, "--benchmark_min_time"));
  group
      .option("--tb_l2", options.l2,
              "State of the L2 cache at a kernel's launch. cold: flushed; warm: as the previous launch left it, and "
              "case names end in l2:warm. Model steps run back to back either way [default: cold]")
      ->transform(one_of<L2State>({{"cold", L2State::kCold}, {"warm", L2State::kWarm}}));
  group
      .option("--tb_verify", options.verify_again,
              "twice: before sampling and, in families that support it, again afterwards on other data; once: only "
              "before sampling [default: twice; in the smoke suite twice for one case per family]")
      ->transform(one_of<bool>({{"twice", true}, {"once", false}}));
  group
      .option("--tb_trace", options.trace,
              "on: after sampling, trace a few steps of every case on a GPU to record its kernels, the GPU's own time "
              "per step and its gaps; off: do not trace [default: on with a GPU]")
      ->transform(one_of<bool>({{"on", true}, {"off", false}}));
  group
      .option("--tb_profile", options.profile,
              "Trace, and write the traced steps of each case to its own folder in DIR, for 'tbench profile DIR' and "
              "Perfetto")
      ->type_name("DIR");
  group
      .option("--tb_ceilings", options.ceilings,
              "on: first run the Ceiling cases that the selected cases are compared with, selected or not; off: run "
              "only the selected cases; auto: on with a GPU, except in the smoke suite")
      ->transform(one_of<CeilingChoice>(
          {{"auto", CeilingChoice::kAuto}, {"on", CeilingChoice::kOn}, {"off", CeilingChoice::kOff}}))
      ->default_str("auto");
  app.add_option_function<std::string>(
         "--tb_plant", [&options](const std::string& text) { options.plant = injected_delay_of(text); },
         "CASE:SHARE: slow this case down by a share of its own time, e.g. 0.05: a regression of known size that "
         "'tbench gate' must find. The results say so and never enter a history")
      ->group(group.name);
}

void declare_processes(CLI::App& app, Options& options) {
  const Group group{app, "How it is measured"};
  group
      .option("--tb_isolate", options.isolation,
              "run: all cases in one child process, but each CUDA graph in a fresh one; case: each case in a fresh "
              "child process; none: all cases in this process")
      ->transform(one_of<Isolation>({{"run", Isolation::kRun}, {"case", Isolation::kCase}, {"none", Isolation::kNone}}))
      ->default_str("run");
  group
      .seconds_option("--tb_timeout", options.timeout,
                      "Give up on a case after this many seconds without a sign of life")
      ->default_str("120");
  group
      .option("--tb_packages", options.packages,
              "Folder of packages from tools/compile_model.py and tools/compile_attention.py, for impl:compiled")
      ->type_name("DIR")
      ->check(folder_with(".pt2", "tools/compile_model.py and tools/compile_attention.py make them"));
  group
      .each(
          "--tb_plugin", [&](const std::string& path) { options.plugins.push_back(path); },
          "Measure your own implementation next to the built-in ones, as impl:NAME: a shared library FILE.so, a Python "
          "function FILE.py:FUNCTION, or a package FILE.pt2 made from such a function by tools/export_kernel.py "
          "(repeatable). See examples/plugin/README.md")
      ->type_name("FILE")
      ->check(plugin_file());
  group.flag("--tb_require_exclusive", options.require_exclusive, "Refuse to run while other processes use the GPU");
  group.flag("--tb_skip_oversize", options.skip_oversize,
             "Report a case as oom without running it if its weights alone cannot fit");
  group.flag("--tb_try_oom", options.try_oom,
             "Also run the cases that ran out of memory when the durations of this GPU model were measured "
             "(bench/durations); without this flag, they are reported as oom and not run");
  group
      .option("--tb_memory_limit", options.memory_limit_gib,
              "Limit cases to this many GiB of the GPU's memory, to see where a smaller GPU would run out")
      ->type_name("GIB")
      ->check(positive_gib());
  group
      .option("--tb_clock_policy", options.clock_policy,
              "How you have set the GPU's clocks, for the record: default, locked-base, ...")
      ->capture_default_str();
  group.flag("--tb_anonymous", options.anonymous,
             "Leave the GPU's UUID out of the results; a history then cannot tell GPUs of one model apart");
}

void declare_output(CLI::App& app, Options& options, bool& help) {
  const Group group{app, "Output"};
  group
      .option("--benchmark_out", options.out,
              "Write results to this JSON file, compressed if its name ends in .gz; a finished case is never lost")
      ->type_name("FILE.json");
  group
      .option(
          "--tb_page", options.page,
          "After the run, write its results as an HTML page, as 'tbench report' does; for a study, the page has its "
          "tables [results: --benchmark_out, else FILE.json.gz next to the page]")
      ->type_name("FILE.html")
      ->check(page_file());
  app.add_option_function<std::string>(
         "--benchmark_out_format",
         [](const std::string& text) {
           if (text == "json") return;
           throw UsageError{
               fmt::format("--benchmark_out_format: '{}' is not json; 'tbench report' makes tables of it", text)};
         },
         "json")
      ->group(group.name)
      ->default_str("json");
  group.option("--benchmark_format", options.json_on_stdout, "What goes to stdout: console or json")
      ->transform(one_of<bool>({{"console", false}, {"json", true}}))
      ->default_str("console");
  group.option("--benchmark_color", options.color, "auto, true or false")
      ->transform(one_of<ColorChoice>(
          {{"auto", ColorChoice::kAuto}, {"true", ColorChoice::kAlways}, {"false", ColorChoice::kNever}}))
      ->default_str("auto");
  group
      .each(
          "--benchmark_context",
          [&](const std::string& entry) {
            const std::size_t equals = entry.find('=');
            options.context.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
          },
          "key=value to add to the file's context (repeatable)")
      ->check(key_value());
  group.flag("--tb_resume", options.resume,
             "Resume the run in the file of --benchmark_out: measure only what it lacks");
  group.seconds_option(
      "--tb_stop_after", options.stop_after,
      "Start no case that would end later than this many seconds after the start, according to the table of durations; "
      "then stop as after Ctrl-C. --tb_resume continues");
  group.flag("--help,-h", help, "Print this text");
  app.add_option_function<std::vector<int>>(
         "--tb_worker",
         [&](const std::vector<int>& ends) {
           options.worker = std::pair{ends.at(0), ends.at(1)};
         },
         "Descriptors of requests and answers, of a child process")
      ->delimiter(',')
      ->expected(2)
      ->group("");
  app.add_option("--tb_worker_task", options.worker_task, "cases, plugins or device: what a child process is for")
      ->transform(one_of<WorkerTask>(
          {{"cases", WorkerTask::kCases}, {"plugins", WorkerTask::kPlugins}, {"device", WorkerTask::kDevice}}))
      ->group("");
  app.add_option("--tb_described_plugins", options.described_plugins, "What a child process is told of --tb_plugin")
      ->group("");
}

void refuse_unknown(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining();
  if (unknown.empty()) return;
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    const bool is_for_users = !option->get_group().empty();
    if (is_for_users) flags.push_back("--" + option->get_lnames().front());
  }
  throw UsageError{unknown_argument_message(unknown, flags)};
}

/// Returns the examples that --help ends with.
std::vector<render::HelpExample> examples() {
  return {{"transformer_bench --benchmark_out=run.json.gz", "measures the standard suite of a GPU"},
          {"transformer_bench --benchmark_list_tests --tb_suite=full", "lists every case, without a GPU"},
          {"transformer_bench --benchmark_filter='^Attention/.*precision:bf16'", "measures attention in bf16"},
          {"transformer_bench --tb_study=precision --benchmark_out=p.json && tbench report --study precision p.json",
           "measures the cases of a study and shows its tables"},
          {"transformer_bench --tb_plugin=attention.py:attention --tb_study=mine --tb_page=mine.html",
           "compares your own attention with all others"}};
}

}  // namespace

ParsedCommandLine parse_command_line(int argc, const char* const* argv) {
  CLI::App app{
      "Benchmarks transformers on NVIDIA GPUs: verifies every output, records how each number was taken, keeps results "
      "comparable.",
      "transformer_bench"};
  app.formatter(std::make_shared<render::HelpFormatter>());
  render::add_examples(app, examples());
  app.set_help_flag();
  app.allow_extras();
  Options options;
  bool help = false;
  bool version = false;
  declare_selection(app, options);
  declare_sampling(app, options);
  declare_processes(app, options);
  declare_output(app, options, help);
  app.add_flag("--version", version, "Print the version and the commit")->group("Output");
  try {
    std::vector<std::string> words = in_own_spelling({argv + 1, argv + argc});
    std::ranges::reverse(words);  // CLI11 expects reversed order
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    throw UsageError{render::parse_error_text(error)};
  }
  refuse_unknown(app);
  if (help) return {.options = {}, .help = app.help()};
  if (version)
    return {.options = {},
            .help = fmt::format("transformer_bench {}, commit {}\n", TBENCH_VERSION, build_info().commit)};
  static_cast<void>(CaseFilter{options.filter, "--benchmark_filter"});
  apply_rules(options);
  return {.options = options, .help = std::nullopt};
}

}  // namespace tbench::bench
