// `tbench fleet`: compares GPUs of the same model.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "help/numbers.hpp"
#include "tbench/compare/fleet.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/quantities.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::tool {
namespace {

constexpr int kExitSlow = 1;

struct FleetArguments {
  static constexpr double kPercent = 100;
  std::vector<std::string> files;
  std::string known;
  bool alone{};
  double false_alarms{kPercent * compare::FleetOptions{}.false_alarms};
  bool markdown{};
  bool json{};
};

compare::FleetOptions options_of(const FleetArguments& arguments) {
  if (arguments.markdown && arguments.json) throw UsageError{"--markdown and --json exclude each other; give one"};
  if (arguments.alone && !arguments.known.empty()) throw UsageError{"--known and --alone exclude each other; give one"};
  compare::FleetOptions options{.false_alarms = arguments.false_alarms / FleetArguments::kPercent, .known = {}};
  if (arguments.alone) return options;
  if (!arguments.known.empty()) options.known = compare::read_known_spreads(arguments.known);
  const std::span<const compare::ResourceDispersion> recorded = compare::recorded_spreads();
  options.known.insert(options.known.end(), recorded.begin(), recorded.end());
  return options;
}

int run(const FleetArguments& arguments) {
  const compare::FleetOptions options = options_of(arguments);
  std::vector<results::NamedResults> files;
  for (const std::string& path : arguments.files) files.push_back({path, results::read_result_file(path)});
  const compare::Fleet fleet = compare::compare_fleet(files, options);
  if (arguments.json) {
    fmt::print("{}", results::pretty(compare::fleet_to_json(fleet)));
  } else {
    fmt::print("{}", compare::fleet_page(fleet, {.markdown = arguments.markdown,
                                                 .colour = ::isatty(STDOUT_FILENO) == 1,
                                                 .max_width = render::console_width(STDOUT_FILENO)}));
  }
  return compare::has_slow(fleet) ? kExitSlow : kExitOk;
}

}  // namespace

void add_fleet(CLI::App& app, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("fleet", "Compare GPUs of one model, and name those that are slower than the others");
  const auto arguments = std::make_shared<FleetArguments>();
  command
      ->add_option("FILE", arguments->files,
                   "Results with Ceiling cases, of three or more GPUs; several files of one GPU are pooled")
      ->required();
  command
      ->add_option("--known", arguments->known,
                   "How much healthy GPUs differ: the --json output of an earlier 'tbench fleet' for the same model "
                   "[default: built-in measurements, if there are any for the model]")
      ->type_name("FILE");
  command->add_flag("--alone", arguments->alone,
                    "Use no earlier measurements: estimate from the given results alone how much GPUs differ");
  command
      ->add_option("--false-alarms", arguments->false_alarms,
                   "Share of healthy fleets in which a GPU may be called slow by mistake")
      ->type_name("PERCENT")
      ->check(number_of(
          "a percentage", &percent_in, [](double value) { return value > 0 && value < FleetArguments::kPercent; },
          "is not a rate; give percent > 0 and < 100"))
      ->capture_default_str();
  command->add_flag("--markdown", arguments->markdown, "Print Markdown");
  command->add_flag("--json", arguments->json, "Print JSON with all data, for programs and for --known");
  command->footer(
      "Exit: 0 no GPU is slow; 1 at least one is; 2 usage or unreadable input; 3 GPUs of different models or "
      "settings.");
  command->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace tbench::tool
