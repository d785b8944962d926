// The command line of `tbench gate`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nights/facts.hpp"
#include "tbench/history/history.hpp"

namespace tbench::tool {

struct GateArguments {
  std::string db{"tbench.db"};
  std::vector<std::string> files;
  std::vector<std::string> null_a;
  std::vector<std::string> null_b;
  std::string good;
  std::string pinned;
  std::string next;
  std::string confirm_folder;
  std::string accept;
  std::optional<double> tau_percent;
  double wait{history::History::kWait.value};
  std::int64_t max_suspects{40};
  bool again{};
  bool dry_run{};
  bool heartbeat{};
  bool pool{};
  bool partial{};
  ExpectationChanges changes;
  bool strict{};
  bool markdown{};
  bool json{};
  std::string junit;
};

/// Declares the options. `arguments` must outlive the parsing.
void declare_gate_options(CLI::App& command, GateArguments& arguments);

/// Checks the combination of options, and that no output file is an input and no input is of the wrong kind.
/// @throws  UsageError  naming the option or the file, and what to do
void check_gate_arguments(const GateArguments& arguments);

}  // namespace tbench::tool
