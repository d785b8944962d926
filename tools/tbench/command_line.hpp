// The subcommands of tbench, and what their command lines have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>

#include "tbench/results/conclusion.hpp"

namespace tbench::tool {

/// Each adds a subcommand, which runs when the command line is parsed: what changed between two builds, or two GPUs;
/// how long cases take, as a table that runs plan by; GPUs of one model side by side;
/// last night against the nights before it; a case over time, and filling the history from results files; several
/// results files as one; the tables of a results file; the classes of kernels' names on standard input; the tables of
/// an export of Nsight Systems, and of traces; what two processes and two machines differ by.
/// @param exit_status  set to what the program is to exit with; must outlive the parsing
/// @throws             from its callback: UsageError naming the input, the value and the remedy; std::system_error
void add_diff(CLI::App& app, int& exit_status);
void add_durations(CLI::App& app);
void add_fleet(CLI::App& app, int& exit_status);
void add_gate(CLI::App& app, int& exit_status);
void add_history(CLI::App& app, int& exit_status);
void add_merge(CLI::App& app, int& exit_status);
void add_report(CLI::App& app, int& exit_status);
void add_classify(CLI::App& app);
void add_nsys(CLI::App& app, int& exit_status);
void add_profile(CLI::App& app);
void add_spreads(CLI::App& app);

/// A file could not be read and was passed over; what there is of the others was written.
inline constexpr int kExitPassedOver = 1;

/// `--tau=PERCENT`, above 0 and below 100.
void add_tau_option(CLI::App& command, std::optional<double>& percent);
/// `--wait=S`, from 0 to 3600.
void add_wait_option(CLI::App& command, double& seconds);

/// Explains what is wrong with the arguments, for a person: names the flag or command that is unknown, and the nearest
/// known.
[[nodiscard]] std::string explain(const CLI::App& app, const CLI::ParseError& error);

/// A document of the kind `error` with the conclusion, whose command is `--help` where it has none, and `exit_status`;
/// empty unless the subcommand was to print JSON and no other format.
[[nodiscard]] std::string error_document(const CLI::App& app, results::Conclusion conclusion, int exit_status);

/// An input is never an output.
/// @param flag    flag that names the output
/// @param path    path of the output; empty if there is none
/// @param inputs  files that it is made from
/// @throws        UsageError  if it would replace one of them, or if a process is writing results there
void check_no_input(const std::string& flag, const std::string& path, std::span<const std::string> inputs);

/// Checks the same as check_no_input, and that no other results, journal or database are replaced: `-o a.json b.json`
/// was meant otherwise.
void check_output(const std::string& flag, const std::string& path, std::span<const std::string> inputs);

/// Writes the output that `flag` asks for, as a whole or not at all.
/// @throws  UsageError  if it cannot be written
void write_output(const std::string& flag, const std::string& path, const std::string& content);

}  // namespace tbench::tool
