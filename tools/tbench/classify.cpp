// `tbench classify`: prints the class of each kernel whose name is on standard input.
#include "command_line.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>

#include "tbench/core/error.hpp"
#include "tbench/profile/kernel_rules.hpp"

namespace tbench::tool {
namespace {

constexpr std::size_t kMaxLine = std::size_t{1} << 16;  // bytes; the longest names of kernels have some thousand

/// Reads a line from standard input.
/// @return  whether there was a line
/// @throws  UsageError  for a line of more than kMaxLine bytes
bool read_line(std::string& line) {
  line.resize(kMaxLine + 1);
  std::cin.getline(line.data(), static_cast<std::streamsize>(line.size()));
  const auto taken = static_cast<std::size_t>(std::cin.gcount());
  if (std::cin.fail() && taken == kMaxLine) {
    throw UsageError{
        fmt::format("standard input: a line of more than {} bytes; give names of kernels, one per line", kMaxLine)};
  }
  line.resize(taken == 0 || std::cin.eof() ? taken : taken - 1);  // without the end of the line
  return !std::cin.fail();
}

void run_classify(const std::string& rules_file) {
  using profile::KernelRules;
  const KernelRules own = rules_file.empty() ? KernelRules{} : KernelRules::read(rules_file);
  profile::KernelClassifier classify{rules_file.empty() ? KernelRules::built_in() : own};
  std::string name;
  while (read_line(name)) {
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
      ->add_option(
          "--rules", *rules_file,
          "Rules to use instead of the built-in ones: a class and a regular expression per line; the first rule "
          "that matches a name gives its class")
      ->type_name("FILE");
  command->callback([rules_file] { run_classify(*rules_file); });
}

}  // namespace tbench::tool
