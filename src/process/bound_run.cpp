#include "tbench/process/bound_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <system_error>
#include <thread>

#include "process/descendants.hpp"

namespace tbench::process {
namespace {

constexpr int kSignalStatus = 128;      // as shells do
constexpr int kExecFailedStatus = 127;  // likewise
constexpr std::array kStopSignals{SIGINT, SIGTERM, SIGHUP};
constexpr std::chrono::milliseconds kInterval{10};
constexpr int kMaxSweeps = 100;  // limit on the attempts to kill the processes that a command leaves

volatile std::sig_atomic_t stop_signal = 0;

void note_signal(int number) { stop_signal = number; }

/// Records the signals that ask this process to stop, and adopts orphans, as long as it exists.
class Watch {
 public:
  Watch() {
    stop_signal = 0;
    struct sigaction noted {};
    noted.sa_handler = note_signal;
    for (std::size_t i = 0; i < kStopSignals.size(); ++i) sigaction(kStopSignals.at(i), &noted, &before_.at(i));
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    for (std::size_t i = 0; i < kStopSignals.size(); ++i) sigaction(kStopSignals.at(i), &before_.at(i), nullptr);
  }

 private:
  std::array<struct sigaction, kStopSignals.size()> before_{};
};

/// Executes the command in the new process. Calls only functions that POSIX allows after a fork.
[[noreturn]] void become(char* const* arguments, const CommandOutput& output, int null_input, pid_t parent) {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (const int number : kStopSignals) sigaction(number, &by_default, nullptr);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExecFailedStatus);  // the parent died before prctl(): nothing would kill this child
  dup2(null_input, STDIN_FILENO);
  dup2(output.out, STDOUT_FILENO);
  dup2(output.err, STDERR_FILENO);
  execvp(arguments[0], arguments);
  _exit(kExecFailedStatus);
}

/// Kills the processes that a command left running: its group, and orphans that became children of this process.
void sweep(pid_t group, const std::vector<pid_t>& ours) {
  ::kill(-group, SIGKILL);
  for (int i = 0; i < kMaxSweeps; ++i) {
    bool is_empty = true;
    for (const pid_t pid : children_of(::getpid())) {
      if (std::find(ours.begin(), ours.end(), pid) != ours.end()) continue;
      is_empty = false;
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, WNOHANG);
    }
    if (is_empty) return;
    std::this_thread::sleep_for(kInterval);
  }
}

int wait_bound(pid_t pid, Seconds grace) {
  std::optional<std::chrono::steady_clock::time_point> end;
  for (;;) {
    int status{};
    const pid_t reaped = ::waitpid(pid, &status, WNOHANG);
    if (reaped == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalStatus + WTERMSIG(status);
    if (reaped < 0 && errno != EINTR) throw std::system_error{errno, std::generic_category(), "waitpid"};
    if (stop_signal != 0 && !end) {
      ::kill(-pid, stop_signal);
      end = std::chrono::steady_clock::now() +
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>{grace.value});
    }
    if (end && std::chrono::steady_clock::now() >= *end) ::kill(-pid, SIGKILL);
    std::this_thread::sleep_for(kInterval);
  }
}

}  // namespace

Interrupted::Interrupted(int number)
    : std::runtime_error{fmt::format("interrupted by signal {}", number)}, number_{number} {}

int run_bound(const std::vector<std::string>& words, CommandOutput output, Seconds grace) {
  if (words.empty()) throw std::invalid_argument{"a command without words"};
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::vector<pid_t> ours = children_of(::getpid());
  const Watch watch;
  const int null_input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(arguments.data(), output, null_input, parent);
  const int error = errno;
  ::close(null_input);
  if (pid < 0) throw std::system_error{error, std::generic_category(), "fork"};
  ::setpgid(pid, pid);  // so that it leads its group before we signal that
  const int status = wait_bound(pid, grace);
  sweep(pid, ours);
  if (stop_signal != 0) throw Interrupted{stop_signal};
  return status;
}

}  // namespace tbench::process
