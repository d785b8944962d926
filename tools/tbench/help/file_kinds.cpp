#include "file_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "command_line.hpp"
#include "missing_files.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::tool {
namespace {

constexpr std::string_view kHistoryFlag = "--db";

enum class FileKind { kResults, kHistory, kExport, kReport, kTrace };

struct Reader {
  const char* command;
  const char* argument;
  std::vector<FileKind> kinds;  // of files that the command reads, or refuses with a message of its own
};

/// The commands with arguments that are files. A regular expression of `history` is never meant to name a file. A
/// history that another process creates just now looks like any database.
const std::vector<Reader>& readers() {
  static const std::vector<Reader> all{{"diff", "BASE", {FileKind::kResults}},
                                       {"diff", "--to", {FileKind::kResults}},
                                       {"durations", "FILE", {FileKind::kResults}},
                                       {"fleet", "FILE", {FileKind::kResults}},
                                       {"diff", "--db", {FileKind::kHistory, FileKind::kExport}},
                                       {"gate", "RUN", {FileKind::kResults, FileKind::kHistory}},
                                       {"history", "REGEX", {}},
                                       {"history", "--db", {FileKind::kHistory, FileKind::kExport}},
                                       {"merge", "FILE", {FileKind::kResults}},
                                       {"nsys", "FILE", {FileKind::kExport, FileKind::kReport}},
                                       {"profile", "PATH", {FileKind::kTrace}},
                                       {"report", "FILE", {FileKind::kResults}},
                                       {"spreads", "RESULTS", {FileKind::kResults}}};
  return all;
}

/// Returns whether a database is a history, by its PRAGMA application_id.
bool is_history(const std::string& path) {
  constexpr std::streamoff kApplicationId = 68;  // place in the header of a database
  std::array<char, 4> id{};
  std::ifstream file{path, std::ios::binary};
  file.seekg(kApplicationId);
  file.read(id.data(), id.size());
  return std::string_view{id.data(), id.size()} == "tbnc";
}

/// Returns the kind of a file by its name or its first bytes; nullopt for results and for other files. Results may have
/// the name of a trace.
std::optional<FileKind> kind_at_a_glance(const std::string& path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) return std::nullopt;
  const std::filesystem::path name = std::filesystem::path{path}.filename();
  if (name.extension() == ".nsys-rep" || name.extension() == ".qdrep") return FileKind::kReport;
  if (name == "trace.json" || name == "trace.json.gz") return FileKind::kTrace;
  if (!is_database(path)) return std::nullopt;
  return is_history(path) ? FileKind::kHistory : FileKind::kExport;
}

/// Returns the kind of a file, or nullopt for files that are none of these. Unpacks a packed file to see results.
std::optional<FileKind> kind_of(const std::string& path) {
  const std::optional<FileKind> kind = kind_at_a_glance(path);
  if (kind && kind != FileKind::kTrace) return kind;
  return measurements_in(path) == "results" ? std::optional{FileKind::kResults} : kind;
}

const char* name_of(FileKind kind) {
  switch (kind) {
    case FileKind::kResults:
      return "results";
    case FileKind::kHistory:
      return "a history";
    case FileKind::kExport:
      return "a database";
    case FileKind::kReport:
      return "a report of nsys";
    case FileKind::kTrace:
      return "a trace";
  }
  return "";
}

std::string command_for(FileKind kind, const std::string& path) {
  const auto line = [](std::vector<std::string> words) { return results::command_line(words); };
  switch (kind) {
    case FileKind::kResults:
      return line({"tbench", "report", path});
    case FileKind::kHistory:
      return line({"tbench", "history", "--db=" + path});
    case FileKind::kExport:
    case FileKind::kReport:
      return line({"tbench", "nsys", path});
    case FileKind::kTrace:
      return line({"tbench", "profile", path});
  }
  return "";
}

}  // namespace

std::optional<std::string> command_that_shows(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    const bool is_profile = std::filesystem::exists(std::filesystem::path{path} / "trace.json.gz", error);
    return results::command_line({{"tbench", is_profile ? "profile" : "report", path}});
  }
  const std::optional<FileKind> kind = kind_of(path);
  return kind ? std::optional{command_for(*kind, path)} : std::nullopt;
}

std::optional<std::string> command_of_files(std::span<const std::string> paths) {
  const auto are_results = [](const std::string& path) { return kind_of(path) == FileKind::kResults; };
  if (paths.size() > 1 && std::ranges::all_of(paths, are_results)) {
    std::vector<std::string> words{"tbench", paths.size() == 2 ? "diff" : "report"};
    words.insert(words.end(), paths.begin(), paths.end());
    if (paths.size() > 2) words.insert(words.end(), {"-o", "page.html"});
    return results::command_line(words);
  }
  return paths.size() == 1 ? command_that_shows(paths[0]) : std::nullopt;
}

void refuse_other_kinds(CLI::App& app, const std::vector<std::string>& words) {
  for (const Reader& reader : readers()) {
    CLI::App* const command = app.get_subcommand(reader.command);
    const bool takes_history = command->get_option_no_throw("--db") != nullptr;
    const std::string_view argument = reader.argument;
    const bool is_input = argument != "REGEX" && argument != kHistoryFlag;
    const auto refuse = [&reader, takes_history, is_input, command, &app, words](const std::string& path) {
      const auto missing = is_input ? explain_missing_file(path, words, *command, app) : std::nullopt;
      if (missing) throw UsageError{fmt::format("{}: {}", reader.argument, *missing)};
      const auto reads = [&reader](FileKind kind) {
        return std::ranges::find(reader.kinds, kind) != reader.kinds.end();
      };
      // A file that the command reads is not unpacked here, too.
      const std::optional<FileKind> glance = kind_at_a_glance(path);
      if (glance ? reads(*glance) : reads(FileKind::kResults)) return std::string{};
      const std::optional<FileKind> kind = kind_of(path);
      if (!kind || reads(*kind)) return std::string{};
      if (reader.argument == kHistoryFlag) {
        throw UsageError{
            fmt::format("--db: '{}' is {}; give a history written by 'tbench gate'", path, name_of(*kind))};
      }
      const bool is_db = takes_history && *kind == FileKind::kHistory;
      throw UsageError{fmt::format("{}: '{}' is {}; did you mean '{}'?", reader.argument, path, name_of(*kind),
                                   is_db ? "--db=" + path : command_for(*kind, path))};
    };
    command->get_option(reader.argument)->check(refuse, "");
  }
}

}  // namespace tbench::tool
