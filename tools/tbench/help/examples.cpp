#include "examples.hpp"

#include <map>
#include <string>
#include <vector>

#include "tbench/render/help.hpp"

namespace tbench::tool {
namespace {

using Examples = std::vector<render::HelpExample>;

const std::map<std::string, Examples>& examples() {
  static const std::map<std::string, Examples> all{
      {"tbench",
       {{"tbench report run.json -o run.html", "shows a run as a page with tables and plots"},
        {"tbench diff base.json new.json", "tells what became slower or faster"},
        {"tbench COMMAND --help", "describes a command"}}},
      {"classify", {{"tbench classify < names.txt", "prints the class of each kernel name"}}},
      {"diff",
       {{"tbench diff base.json new.json", "compares one process per side, using the known spread between processes"},
        {"tbench diff base?.json --to new?.json", "compares several processes per side by their own spread"},
        {"tbench diff h100.json h200.json", "shows the ratios of two GPU models, without outcomes"},
        {"tbench diff base.json new.json --all --csv", "prints every case for a spreadsheet"}}},
      {"durations",
       {{"tbench durations run1.json run2.json -o mine.csv", "writes how long each case takes on this GPU"},
        {"transformer_bench --tb_durations=mine.csv", "plans a run with that table"}}},
      {"fleet", {{"tbench fleet gpu*.json", "names the GPUs that are slower than the others"}}},
      {"gate",
       {{"tbench gate night?.json --db=history.db", "judges a nightly run and adds it to the history"},
        {"tbench gate night?.json --db=history.db --strict", "fails if anything was left undecided"}}},
      {"history",
       {{"tbench history --db=history.db", "lists every case with its last changes"},
        {"tbench history --db=history.db 'size:small.*bf16'", "shows the cases that match"},
        {"tbench history --db=history.db -o history.html", "writes a page with a plot of every case"}}},
      {"merge", {{"tbench merge shard*.json -o run.json", "joins the parts of a run that was divided by --tb_shard"}}},
      {"nsys",
       {{"tbench nsys profile.sqlite", "shows the tables of an export of Nsight Systems"},
        {"tbench nsys profile.sqlite -o DIR", "writes it as a folder for 'tbench profile' and Perfetto"}}},
      {"profile",
       {{"tbench profile DIR", "shows every case that --tb_profile=DIR traced"},
        {"tbench profile DIR --table=top_kernels", "shows the kernels that take the most time"},
        {"tbench profile DIR -o profile.html", "writes a page with the flame graph of a case"}}},
      {"report",
       {{"tbench report run.json", "prints the table of a run"},
        {"tbench report run.json -o run.html",
         "writes a page with tables and plots, and a comparison if there are several files"},
        {"tbench report --study precision run.json --markdown", "prints the tables of a study for a write-up"},
        {"tbench report --headline h100.json h200.json --price H100=2.00 --price H200=2.60",
         "compares GPUs by a training step"},
        {"tbench report run.json --of=impl:sdpa_flash --over=impl:flash",
         "divides the times of one implementation by another's"}}},
      {"spreads",
       {{"tbench spreads --add mine.json run1.json run2.json", "measures the spread between processes on your machine"},
        {"tbench diff base.json new.json --spreads=mine.json", "compares two runs using that spread"}}}};
  return all;
}

}  // namespace

void add_examples(CLI::App& app) {
  render::add_examples(app, examples().at(app.get_name()));
  for (CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    render::add_examples(*command, examples().at(command->get_name()));
  }
}

std::string example_of(const std::string& command) { return examples().at(command).front().command; }

}  // namespace tbench::tool
