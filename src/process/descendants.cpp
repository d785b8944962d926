#include "process/descendants.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <thread>

namespace tbench::process {
namespace {

constexpr std::chrono::milliseconds kInterval{10};
constexpr int kMaxSweeps = 100;

std::mutex& children_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::set<pid_t>& own_children() {
  static std::set<pid_t> pids;
  return pids;
}

/// Kills the children that are not this process's own.
/// @return  whether there were none
bool sweep_once() {
  const std::lock_guard lock{children_mutex()};
  bool is_empty = true;
  for (const pid_t pid : children_of(::getpid())) {
    if (own_children().contains(pid)) continue;
    is_empty = false;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, WNOHANG);
  }
  return is_empty;
}

/// Returns the bytes of memory that a process holds, without the pages of files, which the kernel can reclaim.
std::int64_t held_by(pid_t pid) {
  constexpr std::int64_t kKibi = 1024;
  std::int64_t kibibytes{};
  std::ifstream file{fmt::format("/proc/{}/status", pid)};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("RssAnon:") && !line.starts_with("RssShmem:")) continue;
    kibibytes += std::strtoll(line.c_str() + line.find(':') + 1, nullptr, 10);
  }
  return kibibytes * kKibi;
}

}  // namespace

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> pids;
  std::error_code gone;
  std::filesystem::directory_iterator tasks{fmt::format("/proc/{}/task", parent), gone};
  for (; !gone && tasks != std::filesystem::directory_iterator{}; tasks.increment(gone)) {
    std::ifstream file{tasks->path() / "children"};
    for (pid_t pid{}; file >> pid;) pids.push_back(pid);
  }
  return pids;
}

std::int64_t held_bytes(pid_t root) {
  std::int64_t bytes{};
  std::vector<pid_t> left{root};
  while (!left.empty()) {
    const pid_t pid = left.back();
    left.pop_back();
    bytes += held_by(pid);
    const std::vector<pid_t> children = children_of(pid);
    left.insert(left.end(), children.begin(), children.end());
  }
  return bytes;
}

void adopt_orphans() {
  static std::once_flag once;
  std::call_once(once, [] {
    const std::lock_guard lock{children_mutex()};
    for (const pid_t pid : children_of(::getpid())) own_children().insert(pid);
  });
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::unique_lock<std::mutex> lock_children() { return std::unique_lock{children_mutex()}; }

void add_own_child(pid_t pid, const std::unique_lock<std::mutex>& /*lock*/) { own_children().insert(pid); }

void remove_own_child(pid_t pid) {
  const std::lock_guard lock{children_mutex()};
  own_children().erase(pid);
}

void end_orphans() {
  for (int i = 0; i < kMaxSweeps && !sweep_once(); ++i) std::this_thread::sleep_for(kInterval);
}

}  // namespace tbench::process
