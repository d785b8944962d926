// The subcommands of tbench, and the common parts of their command lines.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tbench/results/conclusion.hpp"

namespace tbench::tool {

/// Each function adds a subcommand, which runs when the command line is parsed. The comment at the top of the
/// subcommand's source file says what it does.
/// @param exit_status  set to the program's exit status; must outlive the parsing
/// @throws             from the subcommand's callback: UsageError naming the input, the value and the remedy;
///                          std::system_error
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

/// Exit status if a file could not be read and was skipped, while the others were shown.
inline constexpr int kExitPassedOver = 1;

/// Adds `--tau=PERCENT`, above 0 and below 100.
void add_tau_option(CLI::App& command, std::optional<double>& percent);
/// Adds `--wait=S`, from 0 to 3600 seconds.
void add_wait_option(CLI::App& command, double& seconds);

/// Explains for a person what is wrong with the arguments: names the unknown flag or command, and the nearest known
/// one.
/// @param words  the command line without the program's name
[[nodiscard]] std::string explain(const CLI::App& app, const CLI::ParseError& error,
                                  std::span<const std::string> words);

/// Returns a document of the kind `error` with the conclusion and `exit_status`. If the conclusion has no command, the
/// command is `--help`. Returns an empty text unless the subcommand was to print JSON and no other format.
[[nodiscard]] std::string error_document(const CLI::App& app, results::Conclusion conclusion, int exit_status);

/// Returns the kind of measurements in a file, which cannot be reproduced: `a database`, `results`, `the journal of a
/// run`. Returns an empty text for any other file, and if there is no file.
[[nodiscard]] std::string_view measurements_in(const std::string& path);

/// Returns whether a file is an SQLite database, such as a history.
[[nodiscard]] bool is_database(const std::string& path);

}  // namespace tbench::tool
