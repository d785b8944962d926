#include "command_line.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>

#include "tbench/profile/kernel_rules.hpp"

namespace tbench::tool {
namespace {

void run(const std::string& rules_file) {
  using profile::KernelRules;
  const KernelRules own = rules_file.empty() ? KernelRules{} : KernelRules::read(rules_file);
  profile::KernelClassifier classify{rules_file.empty() ? KernelRules::built_in() : own};
  std::string name;
  while (std::getline(std::cin, name)) {
    if (name.ends_with('\r')) name.pop_back();
    if (!name.empty()) fmt::print("{}\t{}\n", to_string(classify(name)), name);
  }
}

}  // namespace

void add_classify(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "classify", "Read kernel names from standard input, one per line, and print the class of each");
  const auto rules_file = std::make_shared<std::string>();
  command
      ->add_option("--rules", *rules_file,
                   "Rules to use in place of the built-in ones: a class and a regular expression per line; the first "
                   "that matches decides")
      ->type_name("FILE");
  command->callback([rules_file] { run(*rules_file); });
}

}  // namespace tbench::tool
