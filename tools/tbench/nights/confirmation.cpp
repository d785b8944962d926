#include "confirmation.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "help/messages.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/process/bound_run.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/output_lock.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::tool {
namespace {

using compare::ComparisonSide;
using gate::ConfirmationBlock;

constexpr std::size_t kMaxFilter = 100'000;  // bytes; Linux takes up to 128 KiB per argument

/// Runs a command with further arguments. Its output goes to this program's stderr, and it ends when this program does.
/// @return  exit status of the command; 128 + signal if a signal ended it
int run_command(const std::string& command, const std::vector<std::string>& arguments) {
  // The shell splits only the command into words and is replaced by it (exec). The arguments are passed on unchanged.
  std::vector<std::string> words{"/bin/sh", "-c", "exec " + command + " \"$@\"", "sh"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return process::run_bound(words, {.out = STDERR_FILENO, .err = STDERR_FILENO});
}

/// Runs one process per call. A run without results counts as a run without cases, except for the first one.
class Runner {
 public:
  Runner(std::string command, std::string filter) : command_{std::move(command)}, filter_{std::move(filter)} {}

  /// @param seed  seed of weights and inputs, unless the command sets its own; nullopt for the program's default
  ComparisonSide operator()(const std::string& path, std::optional<std::size_t> seed = std::nullopt) {
    results::refuse_locked(path, "--confirm-dir");
    std::filesystem::remove(path);
    std::vector<std::string> arguments{"--benchmark_filter=" + filter_, "--benchmark_out=" + path};
    if (seed && command_.find("--tb_seed") == std::string::npos)
      arguments.push_back(fmt::format("--tb_seed={}", *seed));
    const int status = run_command(command_, arguments);
    if (!std::filesystem::exists(path)) {
      const std::string problem = fmt::format("'{}' ended with status {} and wrote no results", command_, status);
      if (!has_run_) throw UsageError{problem + "; give a command that takes the flags of transformer_bench"};
      warn(problem);
      return {};
    }
    has_run_ = true;
    return compare::read_side(path);
  }

 private:
  std::string command_;
  std::string filter_;
  bool has_run_{};
};

/// Returns the seed of a block. In the second half, each block has its own weights and inputs. With a single seed, a
/// tolerance may reject a right result, or a wrong kernel may pass.
/// @param block  number of the block, from 1
std::optional<std::size_t> seed_of(std::size_t block, std::size_t count) {
  constexpr std::size_t kFirstOtherSeed = 1000;
  if (2 * block <= count) return std::nullopt;
  return kFirstOtherSeed + block;
}

}  // namespace

gate::Confirm confirmation(std::string base, std::string next, ConfirmationFolder& folder, std::string label) {
  return [base = std::move(base), next = std::move(next), &folder, label = std::move(label)](
             const std::vector<std::string>& names, std::size_t count) {
    const std::string& place = folder.make();
    const std::string filter = results::exact_filter(names);
    Runner run_base{base, filter};
    Runner run_next{next, filter};
    std::vector<ConfirmationBlock> blocks;
    for (std::size_t i = 1; i <= count; ++i) {
      const auto path = [&](const char* side, int process) {
        return fmt::format("{}/{}_{}_{}_{}.json", place, label, i, side, process);
      };
      say(fmt::format("running {} again, {}: {} of {}", counted_in(names, "case"), label, i, count));
      ConfirmationBlock& block = blocks.emplace_back();
      const std::optional<std::size_t> seed = seed_of(i, count);
      block.base.push_back(run_base(path("base", 1), seed));
      block.next.push_back(run_next(path("new", 1), seed));
      block.next.push_back(run_next(path("new", 2), seed));
      block.base.push_back(run_base(path("base", 2), seed));
    }
    return blocks;
  };
}

gate::RunOnce run_once(std::string command, ConfirmationFolder& folder, std::string label) {
  return [command = std::move(command), &folder, label = std::move(label)](const std::vector<std::string>& names) {
    const std::string exact = results::exact_filter(names);
    say(fmt::format("running {} with the kept build, once", counted_in(names, "case")));
    return Runner{command, exact.size() < kMaxFilter ? exact : "."}(fmt::format("{}/{}.json", folder.make(), label));
  };
}

const std::string& ConfirmationFolder::make() {
  if (!asked_.empty()) {
    std::error_code error;
    std::filesystem::create_directories(asked_, error);
    if (!error) return asked_;
    throw UsageError{fmt::format("--confirm-dir: {}", results::WriteError{"make", asked_, error.value()}.what())};
  }
  try {
    if (!ours_) ours_.emplace("tbench-confirm");
  } catch (const std::system_error& error) {
    throw UsageError{fmt::format("{}; give --confirm-dir", error.what())};
  }
  return ours_->path();
}

}  // namespace tbench::tool
