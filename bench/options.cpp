#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/report/study.hpp"

namespace tbench::bench {
namespace {

/// The flags as text; everything is parsed by us, so that every error reads alike.
struct RawOptions {
  std::string filter{"."}, suite, study, device{"auto"}, seed{"1"};
  std::string min_time, min_warm_up_time, repetitions{"1"}, processes{"1"}, warm_up, samples, l2;
  std::string packages, ceilings{"auto"}, isolate{"run"}, timeout{"120"}, clock_policy{"default"};
  std::string out, out_format{"json"}, format{"console"}, color{"auto"}, worker;
  std::vector<std::string> axes, sizes, context;
  bool list{}, resume{}, require_exclusive{}, skip_oversize{}, help{};
};

/// Google Benchmark flags that cannot keep their meaning here, with what does the job instead.
const std::map<std::string, std::string>& refused_flags() {
  static const std::map<std::string, std::string> flags{
      {"--benchmark_enable_random_interleaving", "cases run in the order of their tables"},
      {"--benchmark_report_aggregates_only", "files hold every repetition; 'tbench report' summarises them"},
      {"--benchmark_display_aggregates_only", "the console shows every repetition"},
      {"--benchmark_perf_counters", "hardware counters of the host say nothing about the GPU"},
      {"--benchmark_time_unit", "files are in ms, so that they can be compared"},
      {"--benchmark_counters_tabular", "the console is always a table"},
      {"--benchmark_dry_run", "use --tb_warmup=0 --tb_samples=1"},
      {"--v", "there is no debug log"},
  };
  return flags;
}

void declare_selection(CLI::App& app, RawOptions& raw) {
  const std::string group = "What is measured";
  app.add_option("--benchmark_filter", raw.filter,
                 "Cases whose name has a match for this extended regular expression; a leading '-' inverts it")
      ->group(group)
      ->capture_default_str();
  app.add_flag("--benchmark_list_tests", raw.list, "List the selected cases and stop; touches no GPU")->group(group);
  app.add_option("--tb_suite", raw.suite,
                 "smoke: seconds, also on a CPU; standard: what people ask for first; full: every cell "
                 "[default: standard with a GPU, else smoke]")
      ->group(group);
  app.add_option("--tb_study", raw.study,
                 fmt::format("Exactly the cases and the protocol of one table that 'tbench report --study' prints: {}",
                             fmt::join(report::study_names(), ", ")))
      ->group(group);
  app.add_option("--tb_axis", raw.axes, "Family.key=v1,v2: replace an axis of the family's course grid (repeatable)")
      ->group(group)
      ->allow_extra_args(false);
  app.add_option("--tb_size", raw.sizes, "NAME:d_model,d_ff,num_layers,num_heads: add a model size (repeatable)")
      ->group(group)
      ->allow_extra_args(false);
  app.add_option("--tb_device", raw.device, "auto, cuda or cpu")->group(group)->capture_default_str();
  app.add_option("--tb_seed", raw.seed, "Seed of weights and inputs")->group(group)->capture_default_str();
}

void declare_measuring(CLI::App& app, RawOptions& raw) {
  const std::string group = "How it is measured";
  app.add_option("--benchmark_min_time", raw.min_time,
                 "Sample at least so many seconds [default: 0.5, kernels 0.1; smoke a fifth]")
      ->group(group);
  app.add_option("--benchmark_min_warmup_time", raw.min_warm_up_time,
                 "Warm up at least so many seconds [default: 1, kernels 0.2; smoke a fifth]")
      ->group(group);
  app.add_option("--benchmark_repetitions", raw.repetitions, "Measure every case so often in its process")
      ->group(group)
      ->capture_default_str();
  app.add_option("--tb_processes", raw.processes,
                 "Measure every case in so many fresh processes, in a random order of the cases by --tb_seed: the "
                 "replicates that 'tbench diff' compares")
      ->group(group)
      ->capture_default_str();
  app.add_option("--tb_warmup", raw.warm_up,
                 "Exactly so many warm-up steps or launches, 0 included [default: until steady]")
      ->group(group);
  app.add_option("--tb_samples", raw.samples, "Exactly so many samples, none dropped [default: until precise]")
      ->group(group);
  app.add_option("--tb_l2", raw.l2,
                 "What a kernel finds in the L2 cache: cold: flushed before every launch; warm: what the launch before "
                 "left, and then l2:warm is part of the names. Model steps are chained as ever [default: cold]")
      ->group(group);
  app.add_option("--tb_ceilings", raw.ceilings,
                 "on: the Ceiling cases that the selected cases are held against run first, selected or not; off: only "
                 "what is selected runs; auto: on with a GPU, except in the smoke suite")
      ->group(group)
      ->capture_default_str();
  app.add_option("--tb_isolate", raw.isolate,
                 "run: all cases in one child process; case: a fresh one each; none: in this process")
      ->group(group)
      ->capture_default_str();
  app.add_option("--tb_timeout", raw.timeout, "Give a case up after so many seconds without a sign of life")
      ->group(group)
      ->capture_default_str();
  app.add_option("--tb_packages", raw.packages,
                 "Folder of what tools/compile_attention.py made, for Attention's impl:compiled")
      ->group(group)
      ->type_name("DIR");
  app.add_flag("--tb_require_exclusive", raw.require_exclusive, "Refuse to run beside other processes on the GPU")
      ->group(group);
  app.add_flag("--tb_skip_oversize", raw.skip_oversize,
               "Report a case as oom without trying it when its weights alone cannot fit")
      ->group(group);
  app.add_option("--tb_clock_policy", raw.clock_policy,
                 "What you did to the GPU's clocks, recorded: default, locked-base, ...")
      ->group(group)
      ->capture_default_str();
}

void declare_output(CLI::App& app, RawOptions& raw) {
  const std::string group = "Output";
  app.add_option("--benchmark_out", raw.out, "Write results to this JSON file, never losing a finished case")
      ->group(group);
  app.add_option("--benchmark_out_format", raw.out_format, "json")->group(group)->capture_default_str();
  app.add_option("--benchmark_format", raw.format, "What goes to stdout: console or json")
      ->group(group)
      ->capture_default_str();
  app.add_option("--benchmark_color", raw.color, "auto, true or false")->group(group)->capture_default_str();
  app.add_option("--benchmark_context", raw.context, "key=value for the file's context (repeatable)")
      ->group(group)
      ->allow_extra_args(false);
  app.add_flag("--tb_resume", raw.resume, "Go on with the run that --benchmark_out's file holds")->group(group);
  app.add_flag("--help,-h", raw.help, "This text")->group(group);
  app.add_option("--tb_worker", raw.worker)->group("");
}

[[noreturn]] void refuse(const std::string& flag, const std::string& value, const std::string& expected) {
  throw UsageError{fmt::format("{}={}: expected {}", flag, value, expected)};
}

template <class T>
T choose(const std::string& flag, const std::string& value, const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, choice] : choices) {
    if (name == value) return choice;
    names.push_back(name);
  }
  throw UsageError{
      fmt::format("{}={}: expected one of {}{}", flag, value, fmt::join(names, ", "), did_you_mean(value, names))};
}

Seconds parse_seconds(const std::string& flag, const std::string& text) {
  std::string_view digits{text};
  if (digits.ends_with('s')) digits.remove_suffix(1);  // Google Benchmark 1.8 writes 0.5s
  double value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc{} && stop == digits.data() + digits.size();
  if (!whole || !std::isfinite(value) || value < 0) refuse(flag, text, "seconds, e.g. 0.5");
  return {value};
}

std::int64_t parse_count(const std::string& flag, const std::string& text, std::int64_t least) {
  const std::optional<std::int64_t> value = parse_integer(text);
  if (!value || *value < least) refuse(flag, text, fmt::format("a whole number of at least {}", least));
  return *value;
}

void check_filter(const std::string& filter) {
  try {
    const std::regex regex{filter.starts_with('-') ? filter.substr(1) : filter, std::regex::extended};
  } catch (const std::regex_error& error) {
    throw UsageError{
        fmt::format("--benchmark_filter={}: not an extended regular expression: {}", filter, error.what())};
  }
}

std::pair<int, int> parse_descriptors(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 2) refuse("--tb_worker", text, "two descriptors");
  return {static_cast<int>(parse_count("--tb_worker", parts[0], 0)),
          static_cast<int>(parse_count("--tb_worker", parts[1], 0))};
}

std::vector<ModelSize> parse_sizes(const std::vector<std::string>& texts) {
  std::vector<ModelSize> sizes;
  std::set<std::string> names;
  for (const std::string& text : texts) {
    sizes.push_back(parse_model_size(text));
    if (!names.insert(sizes.back().name).second) {
      throw UsageError{fmt::format("--tb_size={}: the size '{}' is given twice", text, sizes.back().name)};
    }
  }
  return sizes;
}

void read_output(const RawOptions& raw, Options& options) {
  if (raw.out_format != "json") refuse("--benchmark_out_format", raw.out_format, "json; 'tbench report' makes tables");
  options.out = raw.out;
  options.resume = raw.resume;
  if (raw.resume && raw.out.empty()) {
    throw UsageError{"--tb_resume: needs --benchmark_out=FILE, the file to go on with"};
  }
  options.json_on_stdout = choose<bool>("--benchmark_format", raw.format, {{"console", false}, {"json", true}});
  options.color = choose<ColorChoice>(
      "--benchmark_color", raw.color,
      {{"auto", ColorChoice::kAuto}, {"true", ColorChoice::kAlways}, {"false", ColorChoice::kNever}});
  for (const std::string& entry : raw.context) {
    const std::size_t equals = entry.find('=');
    if (equals == 0 || equals == std::string::npos) refuse("--benchmark_context", entry, "key=value");
    options.context.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
}

void check_processes(const Options& options) {
  if (options.processes == 1) return;
  const auto refuse_with = [&](const char* other, const char* why) {
    throw UsageError{fmt::format("--tb_processes={}: not together with {}: {}", options.processes, other, why)};
  };
  if (options.repetitions > 1) refuse_with("--benchmark_repetitions", "a replicate is a process; leave one out");
  if (options.isolation == Isolation::kNone) refuse_with("--tb_isolate=none", "that is one process; leave one out");
}

/// The study's cases, and what the user has not said of its protocol.
void read_study(const RawOptions& raw, Options& options) {
  if (raw.study.empty()) return;
  const report::Study& study = report::find_study(raw.study, "--tb_study");
  if (options.suite) {
    throw UsageError{fmt::format(
        "--tb_study={}: not together with --tb_suite: a study has its own cases; leave one out", raw.study)};
  }
  options.study = study.name;
  if (!options.fixed_warm_up) options.fixed_warm_up = study.protocol.warm_up;
  if (!options.fixed_samples) options.fixed_samples = study.protocol.samples;
}

Options checked(const RawOptions& raw) {
  Options options;
  check_filter(raw.filter);
  options.filter = raw.filter;
  if (!raw.suite.empty()) {
    options.suite = choose<Suite>("--tb_suite", raw.suite,
                                  {{"smoke", Suite::kSmoke}, {"standard", Suite::kStandard}, {"full", Suite::kFull}});
  }
  for (const std::string& text : raw.axes) options.axes.push_back(parse_axis_override(text));
  options.sizes = parse_sizes(raw.sizes);
  options.list_only = raw.list;
  options.device =
      choose<DeviceChoice>("--tb_device", raw.device,
                           {{"auto", DeviceChoice::kAuto}, {"cuda", DeviceChoice::kCuda}, {"cpu", DeviceChoice::kCpu}});
  options.seed = static_cast<std::uint64_t>(parse_count("--tb_seed", raw.seed, 0));
  if (!raw.min_time.empty()) options.min_time = parse_seconds("--benchmark_min_time", raw.min_time);
  if (!raw.min_warm_up_time.empty()) {
    options.min_warm_up_time = parse_seconds("--benchmark_min_warmup_time", raw.min_warm_up_time);
  }
  options.repetitions = parse_count("--benchmark_repetitions", raw.repetitions, 1);
  options.processes = parse_count("--tb_processes", raw.processes, 1);
  if (!raw.warm_up.empty()) options.fixed_warm_up = parse_count("--tb_warmup", raw.warm_up, 0);
  if (!raw.samples.empty()) options.fixed_samples = parse_count("--tb_samples", raw.samples, 1);
  if (!raw.l2.empty()) {
    options.l2 = choose<L2State>("--tb_l2", raw.l2, {{"cold", L2State::kCold}, {"warm", L2State::kWarm}});
  }
  options.ceilings =
      choose<CeilingChoice>("--tb_ceilings", raw.ceilings,
                            {{"auto", CeilingChoice::kAuto}, {"on", CeilingChoice::kOn}, {"off", CeilingChoice::kOff}});
  read_study(raw, options);
  options.isolation = choose<Isolation>(
      "--tb_isolate", raw.isolate, {{"run", Isolation::kRun}, {"case", Isolation::kCase}, {"none", Isolation::kNone}});
  check_processes(options);
  options.timeout = parse_seconds("--tb_timeout", raw.timeout);
  if (options.timeout.value <= 0) refuse("--tb_timeout", raw.timeout, "more than 0 seconds");
  if (!raw.packages.empty() && !std::filesystem::is_directory(raw.packages)) {
    refuse("--tb_packages", raw.packages, "a folder; tools/compile_attention.py --out makes one");
  }
  options.packages = raw.packages;
  options.require_exclusive = raw.require_exclusive;
  options.skip_oversize = raw.skip_oversize;
  options.clock_policy = raw.clock_policy;
  read_output(raw, options);
  if (!raw.worker.empty()) options.worker = parse_descriptors(raw.worker);
  return options;
}

void refuse_unknown(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) known.push_back("--" + option->get_lnames().front());
  for (const std::string& word : app.remaining()) {
    const std::string flag = word.substr(0, word.find('='));
    const auto refused = refused_flags().find(flag);
    if (refused != refused_flags().end()) {
      throw UsageError{fmt::format("{}: not supported: {}", flag, refused->second)};
    }
    throw UsageError{fmt::format("unknown argument '{}'{} (--help lists all)", word, did_you_mean(flag, known))};
  }
}

}  // namespace

ParsedCommandLine parse_command_line(int argc, const char* const* argv) {
  CLI::App app{"Benchmarks of transformers on NVIDIA GPUs: every number verified, says how it was taken, comparable."};
  app.set_help_flag();
  app.allow_extras();
  RawOptions raw;
  declare_selection(app, raw);
  declare_measuring(app, raw);
  declare_output(app, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw UsageError{error.what()};
  }
  refuse_unknown(app);
  if (raw.help) return {.options = {}, .help = app.help()};
  return {.options = checked(raw), .help = std::nullopt};
}

}  // namespace tbench::bench
