#include "support/child_process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/process/command.hpp"
#include "tbench/process/descriptor.hpp"
#include "tbench/results/durable_file.hpp"

namespace tbench::support {
namespace {

/// Appends output until it has `lines` lines. Returns false if the output ends before.
bool read_lines(int descriptor, std::size_t lines, std::string& text) {
  std::array<char, 4096> buffer{};
  while (static_cast<std::size_t>(std::ranges::count(text, '\n')) < lines) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count <= 0) return false;
    text += std::string_view{buffer.data(), static_cast<std::size_t>(count)};
  }
  return true;
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, std::optional<KillMoment> kill) {
  const TemporaryFolder folder;
  process::Pipe pipe = process::make_pipe();
  const process::UniqueDescriptor errors{
      ::open(folder.file("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  process::Command program{command, {.out = pipe.write_end.get(), .err = errors.get()}};
  pipe.write_end.reset();
  ChildResult result;
  if (kill && read_lines(pipe.read_end.get(), kill->lines, result.out)) {
    std::this_thread::sleep_for(kill->delay);
    program.signal(SIGKILL);
  }
  read_lines(pipe.read_end.get(), std::string::npos, result.out);
  result.exit_status = program.wait();
  result.err = results::read_whole_file(folder.file("err"));
  return result;
}

ChildResult run_tool(const std::vector<std::string>& command) {
  constexpr std::string_view kContinuation = "\n  ";
  ChildResult result = run_child(command);
  for (std::size_t at = result.err.find(kContinuation); at != std::string::npos; at = result.err.find(kContinuation)) {
    result.err.replace(at, kContinuation.size(), " ");
  }
  return result;
}

}  // namespace tbench::support
