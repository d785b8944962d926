#include "report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "help/numbers.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::tool {
namespace {

void declare_study(CLI::App& command, ReportArguments& arguments) {
  command
      .add_option("--study", arguments.study,
                  fmt::format("Show the tables of these studies (NAME or NAME,NAME...), from any files: {}",
                              fmt::join(studies::known_study_names(), ", ")))
      ->type_name("NAME");
  command
      .add_option("--axis", arguments.axes,
                  "With --study: use the values of Family.key=v1,v2 instead of the study's own (repeatable)")
      ->allow_extra_args(false)
      ->type_name("AXIS");
  command
      .add_option("--top", arguments.top,
                  "With --study: number of rows that rankings show for each phase or range [default: 5 or 8]")
      ->check(count_of(1))
      ->type_name("N");
  command.add_flag("--csv", arguments.csv,
                   "Print a study or a comparison as CSV, for a spreadsheet (not --over with --pivot)");
  command.add_flag("--latex", arguments.latex, "Print a study or a comparison as LaTeX, for a paper");
  command.add_flag("--json", arguments.json, "Print one file, a study, a comparison or --limits as JSON, for programs");
}

void declare_side_by_side(CLI::App& command, ReportArguments& arguments) {
  command
      .add_option(
          "--of", arguments.of,
          "With --over: the cases whose times are divided, e.g. impl:sdpa_flash (repeatable; the fastest counts)")
      ->allow_extra_args(false)
      ->type_name("KEY:VALUE[/...]");
  command
      .add_option(
          "--over", arguments.over,
          "Divide the times of --of by the times of the same cases with these parameters, e.g. impl:flash; with "
          "--pivot=KEY and --rows, in one column per value of KEY")
      ->type_name("KEY:VALUE[/...]");
  command.add_option("--rows", arguments.rows, "With --over and --pivot: the parameters that name a row")
      ->type_name("KEY[,KEY...]");
  command.add_flag(
      "--headline", arguments.headline,
      "Compare GPUs by a training step of each model size, with energy, memory and price, and by attention");
  command
      .add_option("--price", arguments.prices,
                  "With --headline: what an hour of a GPU costs, e.g. H100=2.00 (repeatable)")
      ->allow_extra_args(false)
      ->type_name("GPU=PRICE");
  command.add_flag("--repeat", arguments.repeat,
                   "Show how far the medians of three or more processes differ, in one file or several");
  command.add_flag(
      "--limits", arguments.limits,
      "Show what limits each traced step (--tb_trace=on), with the numbers, and what removing that limit would gain");
  command.add_flag("--host-times", arguments.host_times,
                   "Show how long the run took to build, verify, sample and trace, by family");
  command
      .add_option("--pytorch", arguments.pytorch,
                  "Show results next to those of tools/time_pytorch_model.py or tools/time_pytorch_ceilings.py")
      ->type_name("FILE.json");
  command
      .add_option("--ncu", arguments.ncu,
                  "Show the kernels of a traced case next to their times from tools/ncu_kernel_times.py")
      ->type_name("FILE.json");
  command.add_flag("--self-comparison", arguments.self_comparison,
                   "FILE is the aa_verdict.json of tests/bench/aa_check.py: a build against itself");
  command.add_flag("--manifest", arguments.manifest,
                   "FILE is the manifest of a folder of results: list them, checked against the files");
  command.add_flag("--experiments", arguments.experiments,
                   "FILE is a table of experiments with kernels, src/kernels/experiments.csv: what was tried, how much "
                   "faster it was, and why it was kept or rejected; --filter selects by 'kernel: change'");
}

}  // namespace

void declare_table_options(CLI::App& command, ReportArguments& arguments) {
  command.add_option(
      "FILE", arguments.files,
      "Results, as transformer_bench --benchmark_out=FILE writes them, compressed or not, or folders of them. Several "
      "FILEs need -o, --study, --headline, --over, --repeat, --host-times, --pytorch or --ncu");
  command.add_option("--filter", arguments.options.filter, "Use only cases whose name matches this regular expression")
      ->type_name("REGEX");
  command
      .add_option(
          "--pivot", arguments.pivot,
          "Spread the values of these parameters over columns; with --study, in all tables without a comparison")
      ->type_name("KEY[,KEY...]");
  command
      .add_option("--show", arguments.show,
                  fmt::format("Quantity in the cells of a pivot: {}", fmt::join(render::metric_names(), ", ")))
      ->capture_default_str()
      ->type_name("METRIC");
  command.add_flag("--no-environment", arguments.hides_environment,
                   "Leave out the lines that name the GPU, the software and the date of the measurement");
  declare_study(command, arguments);
  declare_side_by_side(command, arguments);
}

void declare_output_options(CLI::App& command, ReportArguments& arguments) {
  command
      .add_option("-o,--output", arguments.html,
                  "Write a self-contained HTML page with tables and plots; for a study or a comparison, the name may "
                  "also end in .md, .csv, .tex or .json")
      ->type_name("FILE.html");
  command.add_flag("--markdown", arguments.options.markdown, "Print Markdown tables");
  command
      .add_option("--update", arguments.update,
                  "Write the tables as Markdown between the markers of --section in this file; without --section, "
                  "rewrite every section whose marker has its command")
      ->type_name("FILE.md");
  command
      .add_option("--section", arguments.section,
                  "With --update: write between <!-- tbench:NAME --> and <!-- /tbench:NAME -->")
      ->type_name("NAME");
  command
      .add_option("--check", arguments.check,
                  "Exit with 1 if a section of this file is not what --update would write (repeatable)")
      ->allow_extra_args(false)
      ->type_name("FILE.md");
}

std::vector<std::string> table_kinds(const ReportArguments& arguments) {
  std::vector<std::string> kinds;
  const auto add = [&](bool given, const char* flag) {
    if (given) kinds.emplace_back(flag);
  };
  add(!arguments.study.empty(), "--study");
  add(!arguments.over.empty() || !arguments.of.empty(), "--over");
  add(arguments.headline || !arguments.prices.empty(), "--headline");
  add(arguments.repeat, "--repeat");
  add(arguments.limits, "--limits");
  add(arguments.host_times, "--host-times");
  add(!arguments.pytorch.empty(), "--pytorch");
  add(!arguments.ncu.empty(), "--ncu");
  add(arguments.self_comparison, "--self-comparison");
  add(arguments.manifest, "--manifest");
  add(arguments.experiments, "--experiments");
  return kinds;
}

}  // namespace tbench::tool
