#include "bench/author/export_process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "tbench/core/text.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::bench {
namespace {

constexpr std::string_view kEnding = ".pt2";
/// The beginnings of the tool's lines: its error message, and the step that begins.
constexpr std::string_view kToolSays = "export_kernel.py: ";
constexpr std::string_view kStep = "export: ";

std::string draft_of(const std::string& path) {
  return fmt::format("{}.{}{}", path.substr(0, path.size() - kEnding.size()), ::getpid(), kEnding);
}

std::vector<std::string> with_output(std::vector<std::string> command, const std::string& path) {
  command.insert(command.end(), {"--out", path});
  return command;
}

/// Returns the tool's own error message, or the last line of its output if it has no such message.
std::string reason_in(const std::string& output) {
  std::string last;
  for (const std::string& line : split(output, '\n')) {
    if (line.starts_with(kToolSays)) return line.substr(kToolSays.size());
    if (!line.empty()) last = line;
  }
  return last.empty() ? "the tool printed no message" : last;
}

}  // namespace

ExportProcess::ExportProcess(std::vector<std::string> command, std::string path)
    : command_{std::move(command)},
      path_{std::move(path)},
      draft_{draft_of(path_)},
      began_{std::chrono::steady_clock::now()},
      running_{with_output(command_, draft_), output_.descriptors()} {}

ExportProcess::~ExportProcess() {
  if (!status_) {
    running_.signal(SIGKILL);
    static_cast<void>(running_.wait());
  }
  std::error_code ignored;
  std::filesystem::remove(draft_, ignored);
}

bool ExportProcess::has_ended() {
  if (!status_) status_ = running_.poll();
  return status_.has_value();
}

void ExportProcess::keep_package() {
  if (status_ == 0) return std::filesystem::rename(draft_, path_);
  throw std::runtime_error{fmt::format("{}. For the whole message: {}", reason_in(output_.text()),
                                       results::command_line(with_output(command_, "mine.pt2")))};
}

std::string ExportProcess::step() const {
  std::string step = "starting PyTorch";
  for (const std::string& line : split(output_.text(), '\n')) {
    if (line.starts_with(kStep)) step = line.substr(kStep.size());
  }
  return step;
}

Seconds ExportProcess::elapsed() const {
  return Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count()};
}

}  // namespace tbench::bench
