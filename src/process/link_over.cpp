#include "tbench/process/link_over.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace tbench::process {
namespace {

/// Makes system calls only, since nothing else is allowed after vfork().
int link_and_rename(const char* file, const char* name, const char* target) {
  if (::linkat(AT_FDCWD, file, AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0) return errno;
  if (::rename(name, target) == 0) return 0;
  const int error = errno;
  ::unlink(name);
  return error;
}

/// Blocks signals for this thread and its children as long as it exists.
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
  // The child shares this process's memory, and the parent waits for it. This is as cheap for a large process as for a
  // small one.
  const pid_t pid = ::vfork();
  if (pid == 0) {
    ::setsid();  // so that a signal to the whole group does not reach the child
    error = link_and_rename(from, by, to);
    ::_exit(error);
  }
  if (pid < 0) return link_and_rename(from, by, to);  // no process can be created
  int status{};
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return error;  // the status is lost if SIGCHLD is ignored
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

}  // namespace tbench::process
