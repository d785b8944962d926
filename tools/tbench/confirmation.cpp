#include "confirmation.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

extern char** environ;

namespace tbench::tool {
namespace {

using report::ComparedRun;
using report::ConfirmationBlock;

/// Runs a command of the shell with further arguments, its output on our stderr.
/// @return  its exit status, 128 + signal if one ended it
int run_command(const std::string& command, const std::vector<std::string>& arguments) {
  // The arguments are words of their own: the shell does not look into them.
  std::vector<std::string> words{"/bin/sh", "-c", command + " \"$@\"", "sh"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child{};
  const int error = ::posix_spawn(&child, "/bin/sh", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error{error, std::generic_category(), "cannot start /bin/sh"};
  int status{};
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error{errno, std::generic_category(), "waitpid"};
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// One process; a run without cases if it left no results, but not the first time.
class Runner {
 public:
  Runner(std::string command, std::string filter) : command_{std::move(command)}, filter_{std::move(filter)} {}

  ComparedRun operator()(const std::string& path) {
    std::filesystem::remove(path);
    const int status = run_command(command_, {"--benchmark_filter=" + filter_, "--benchmark_out=" + path});
    if (!std::filesystem::exists(path)) {
      const std::string problem = fmt::format("'{}' ended with status {} and wrote no results", command_, status);
      if (!has_run_) throw UsageError{problem + "; give a command that takes the flags of transformer_bench"};
      fmt::print(stderr, "warning: {}\n", problem);
      return {};
    }
    has_run_ = true;
    return report::read_compared_run(path);
  }

 private:
  std::string command_;
  std::string filter_;
  bool has_run_{};
};

}  // namespace

std::string exact_filter(const std::vector<std::string>& names) {
  std::vector<std::string> escaped;
  for (const std::string& name : names) {
    std::string& text = escaped.emplace_back();
    for (const char c : name) {
      if (std::string_view{R"(\.[]{}()*+?^$|)"}.find(c) != std::string_view::npos) text += '\\';
      text += c;
    }
  }
  return fmt::format("^({})$", join(escaped, "|"));
}

report::Confirm confirmation(std::string base, std::string next, std::string folder, std::string label) {
  return [base = std::move(base), next = std::move(next), folder = std::move(folder),
          label = std::move(label)](const std::vector<std::string>& names) {
    std::filesystem::create_directories(folder);
    const std::string filter = exact_filter(names);
    Runner run_base{base, filter};
    Runner run_next{next, filter};
    std::vector<ConfirmationBlock> blocks;
    for (std::size_t i = 1; i <= report::kConfirmationBlocks; ++i) {
      const auto path = [&](const char* side, int process) {
        return fmt::format("{}/{}_{}_{}_{}.json", folder, label, i, side, process);
      };
      fmt::print(stderr, "running {} case{} again, {}: {} of {}\n", names.size(), names.size() == 1 ? "" : "s", label,
                 i, report::kConfirmationBlocks);
      ConfirmationBlock& block = blocks.emplace_back();
      block.base.push_back(run_base(path("base", 1)));
      block.next.push_back(run_next(path("new", 1)));
      block.next.push_back(run_next(path("new", 2)));
      block.base.push_back(run_base(path("base", 2)));
    }
    return blocks;
  };
}

}  // namespace tbench::tool
