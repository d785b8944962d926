#include "tbench/process/link_over.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace tbench::process {
namespace {

/// Only system calls are made here: after a vfork() nothing else is allowed.
int link_and_rename(const char* file, const char* name, const char* target) {
  if (::linkat(AT_FDCWD, file, AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0) return errno;
  if (::rename(name, target) == 0) return 0;
  const int error = errno;
  ::unlink(name);
  return error;
}

/// Keeps signals from this thread and its children while it lives.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

int link_over(const std::string& file, const std::string& name, const std::string& target) {
  const char* const from = file.c_str();
  const char* const by = name.c_str();
  const char* const to = target.c_str();
  const BlockedSignals blocked;
  volatile int error = ECHILD;
  // It shares our memory, and we wait for it: as cheap for a large process as for a small one.
  const pid_t pid = ::vfork();
  if (pid == 0) {
    ::setsid();  // what kills a whole group does not reach it
    error = link_and_rename(from, by, to);
    ::_exit(error);
  }
  if (pid < 0) return link_and_rename(from, by, to);  // no process is to be had
  int status{};
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return error;  // nobody keeps its status where SIGCHLD is ignored
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

}  // namespace tbench::process
