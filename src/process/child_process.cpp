#include "process/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "process/descendants.hpp"

namespace tbench::process {
namespace {

constexpr Seconds kDestructorLimit{10.0};
constexpr std::chrono::milliseconds kReapInterval{5};
constexpr int kExecFailedStatus = 127;  // as shells do

[[noreturn]] void throw_errno(int error, const std::string& what) {
  throw std::system_error{error, std::generic_category(), what};
}

struct Limit {
  int resource;
  rlim_t most;
};

constexpr rlim_t kMaxDescriptors = 65536;
constexpr rlim_t kMaxFileBytes = rlim_t{16} << 30;
constexpr rlim_t kMoreThreads = 16384;

/// Returns the number of threads on the whole machine. The kernel limits the user's threads, which are no more.
rlim_t machine_threads() {
  std::ifstream file{"/proc/loadavg"};
  double load{};
  rlim_t running{};
  char slash{};
  rlim_t threads{};
  return file >> load >> load >> load >> running >> slash >> threads ? threads : rlim_t{1} << 20;
}

/// The data that the child needs between fork and exec, where it must not allocate.
struct LaunchPlan {
  const char* executable{};
  std::vector<char*> arguments;  // ends with a null
  std::array<Limit, 4> limits;
  pid_t parent{};
  int null_input{};
  int requests{};
  int messages{};
  int errors{};
  int failure{};  // gets errno if the program cannot be executed, else closes on exec
};

/// Lowers a resource limit to `limit.most`. Keeps a limit that is already lower. On failure, returns false and sets
/// errno.
bool lower(const Limit& limit) {
  rlimit now{};
  if (getrlimit(limit.resource, &now) != 0) return false;
  now.rlim_cur = std::min(now.rlim_cur, limit.most);
  now.rlim_max = std::min(now.rlim_max, limit.most);
  return setrlimit(limit.resource, &now) == 0;
}

/// Restores the default signal handling, makes the process lead a group of its own and die with its parent, sets its
/// resource limits, and puts its descriptors in place. On failure, returns false and sets errno.
bool become_worker(const LaunchPlan& plan) {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) sigaction(number, &by_default, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
  // The parent may have died before prctl(): nothing would ever kill this child then.
  if (getppid() != plan.parent) _exit(kExecFailedStatus);
  if (dup2(plan.null_input, STDIN_FILENO) < 0) return false;
  if (dup2(plan.errors, STDOUT_FILENO) < 0 || dup2(plan.errors, STDERR_FILENO) < 0) return false;
  for (const Limit& limit : plan.limits) {
    if (!lower(limit)) return false;
  }
  // Closes descriptors that other code opened without O_CLOEXEC. Kernels before 5.11 cannot do this; the project's own
  // descriptors do not need it.
  syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  return fcntl(plan.requests, F_SETFD, 0) == 0 && fcntl(plan.messages, F_SETFD, 0) == 0;
}

/// Executes the program in the new process. Calls only functions that POSIX allows after a fork.
[[noreturn]] void run_child(const LaunchPlan& plan) {
  if (become_worker(plan)) execv(plan.executable, plan.arguments.data());
  const int error = errno;
  const ssize_t ignored = write(plan.failure, &error, sizeof error);
  static_cast<void>(ignored);  // without the reason, the parent still notices the end
  _exit(kExecFailedStatus);
}

/// Waits until the program runs, and returns nullopt; returns errno if it could not be executed.
std::optional<int> wait_for_exec(const UniqueDescriptor& failure) {
  int error = 0;
  const Transfer read = read_some(failure.get(), {reinterpret_cast<char*>(&error), sizeof error});
  if (read.state == Transfer::State::kEnd) return std::nullopt;
  return error;
}

ChildEnd decode_status(int status) {
  if (WIFSIGNALED(status)) return {ChildEnd::Kind::kSignalled, WTERMSIG(status)};
  return {ChildEnd::Kind::kExited, WEXITSTATUS(status)};
}

/// Returns how the child ended, or nullopt while it runs.
std::optional<ChildEnd> try_reap(pid_t pid) {
  int status = 0;
  const pid_t reaped = waitpid(pid, &status, WNOHANG);
  if (reaped == pid) return decode_status(status);
  if (reaped < 0 && errno != EINTR) return ChildEnd{ChildEnd::Kind::kUnknown, 0};
  return std::nullopt;
}

}  // namespace

std::string to_string(const ChildEnd& end) {
  switch (end.kind) {
    case ChildEnd::Kind::kExited:
      return fmt::format("exited with status {}", end.value);
    case ChildEnd::Kind::kSignalled:
      return fmt::format("killed by signal {} ({})", end.value, strsignal(end.value));
    case ChildEnd::Kind::kUnknown:
      return "ended, its exit status is not known";
    case ChildEnd::Kind::kLeftBehind:
      return "did not end after SIGKILL and was left behind";
  }
  throw std::invalid_argument{"not a ChildEnd"};
}

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::string& executable) {
  if (command.empty()) throw std::invalid_argument{"the command line of a child is empty"};
  Pipe requests = make_pipe();
  Pipe messages = make_pipe();
  Pipe errors = make_pipe();
  Pipe failure = make_pipe();
  const UniqueDescriptor null_input{open("/dev/null", O_RDONLY | O_CLOEXEC)};
  if (!null_input) throw_errno(errno, "/dev/null");

  std::vector<std::string> words = command;
  words.push_back(fmt::format("--tb_worker={},{}", requests.read_end.get(), messages.write_end.get()));
  LaunchPlan plan{
      .executable = executable.empty() ? command.front().c_str() : executable.c_str(),
      .arguments = {},
      .limits = {Limit{RLIMIT_CORE, 0}, Limit{RLIMIT_FSIZE, kMaxFileBytes}, Limit{RLIMIT_NOFILE, kMaxDescriptors},
                 Limit{RLIMIT_NPROC, machine_threads() + kMoreThreads}},
      .parent = getpid(),
      .null_input = null_input.get(),
      .requests = requests.read_end.get(),
      .messages = messages.write_end.get(),
      .errors = errors.write_end.get(),
      .failure = failure.write_end.get()};
  for (std::string& word : words) plan.arguments.push_back(word.data());
  plan.arguments.push_back(nullptr);

  streams_ = {std::move(requests.write_end), std::move(messages.read_end), std::move(errors.read_end)};
  set_non_blocking(streams_.requests);
  set_non_blocking(streams_.messages);
  set_non_blocking(streams_.errors);

  adopt_orphans();
  {
    const std::unique_lock lock = lock_children();
    pid_ = fork();
    if (pid_ == 0) run_child(plan);
    if (pid_ < 0) throw_errno(errno, "fork");
    add_own_child(pid_, lock);
  }
  failure.write_end.reset();
  if (const auto error = wait_for_exec(failure.read_end)) {
    kill_and_reap(kDestructorLimit);
    throw_errno(*error, fmt::format("cannot start '{}'", command.front()));
  }
}

ChildProcess::~ChildProcess() {
  kill_and_reap(kDestructorLimit);
  if (end_->kind == ChildEnd::Kind::kLeftBehind) remove_own_child(pid_);  // the next end_orphans() ends it
}

bool ChildProcess::has_ended() const {
  if (end_) return true;
  siginfo_t info{};
  const int result = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return result == 0 ? info.si_pid == pid_ : errno == ECHILD;
}

void ChildProcess::interrupt() const {
  if (!end_) kill(pid_, SIGINT);
}

ChildEnd ChildProcess::kill_and_reap(Seconds limit) {
  if (end_) return *end_;
  // The group is killed before the child is reaped: until then, the child's number cannot name another group.
  kill(-pid_, SIGKILL);
  const auto start = std::chrono::steady_clock::now();
  while (!(end_ = try_reap(pid_))) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > limit.value) {
      end_ = ChildEnd{ChildEnd::Kind::kLeftBehind, 0};
      break;
    }
    std::this_thread::sleep_for(kReapInterval);
  }
  if (end_->kind != ChildEnd::Kind::kLeftBehind) remove_own_child(pid_);
  end_orphans();
  return *end_;
}

}  // namespace tbench::process
