// One child process: started with three pipes, signalled, and reaped without ever waiting for it forever.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tbench/core/units.hpp"
#include "tbench/process/descriptor.hpp"

namespace tbench::process {

/// How a child ended.
struct ChildEnd {
  enum class Kind {
    kExited,      // `value` is its exit status
    kSignalled,   // `value` is the signal that killed it
    kUnknown,     // it has ended, but its status is lost (SIGCHLD is ignored)
    kLeftBehind,  // it did not end within the limit after SIGKILL: it is in the kernel, or held by a debugger
  } kind{};
  int value{};
};

/// Returns a text such as "exited with status 3" or "killed by signal 11 (Segmentation fault)".
[[nodiscard]] std::string to_string(const ChildEnd& end);

class ChildProcess {
 public:
  /// The parent's ends of the child's pipes, all non-blocking.
  struct Streams {
    UniqueDescriptor requests;  // to the child
    UniqueDescriptor messages;  // from the child
    UniqueDescriptor errors;    // the child's stdout and stderr
  };

  /// Executes `command` with `--tb_worker=R,W` appended: the descriptors of requests and messages. The child
  /// - leads a process group of its own, so that a terminal's Ctrl-C does not reach it;
  /// - reads /dev/null as stdin and inherits no descriptors except its pipes;
  /// - writes no core file and no file over 16 GiB, and has at most 65,536 descriptors;
  /// - may start threads until its user has 16,384 more than the machine has now, unless fewer are allowed already;
  /// - is killed when the calling thread ends (the kernel ties PR_SET_PDEATHSIG to the thread, not the process).
  /// @param executable  path of the program, which is not searched for; empty for the command's first word
  /// @throws            std::system_error  if it cannot be started; the message names the program
  explicit ChildProcess(const std::vector<std::string>& command, const std::string& executable = {});
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Calls kill_and_reap() with a limit of 10 s.
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] Streams& streams() { return streams_; }
  /// Returns whether the child has ended. Does not reap it.
  [[nodiscard]] bool has_ended() const;
  /// Sends SIGINT to the child, not to its group.
  void interrupt() const;
  /// Sends SIGKILL to the whole group (without effect on a child that has ended) and reaps the child. Then ends the
  /// processes that it has left behind outside its group. Further calls return the same result.
  /// @param limit  how long to wait for a child that does not end before it is abandoned
  ChildEnd kill_and_reap(Seconds limit);

 private:
  pid_t pid_{};
  Streams streams_;
  std::optional<ChildEnd> end_;
};

}  // namespace tbench::process
