// A worker process with injected faults for the supervisor's tests. A request names a fault, as `what` or
// `what:argument`. With --no_hello, --silent or --refuses, the worker does not get to a request.
#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "tbench/process/message_channel.hpp"

namespace {

using tbench::process::MessageKind;
using tbench::process::WorkerChannel;
using namespace std::chrono_literals;

std::atomic<int> interrupts{0};

void count_interrupt(int) { ++interrupts; }

struct Worker {
  WorkerChannel& channel;
  int message_descriptor;
  std::string argument;

  void progress(std::string_view activity) const { channel.send(MessageKind::kProgress, activity); }
  void answer(std::string_view payload) const { channel.send(MessageKind::kResult, payload); }
  void raw_bytes(std::string_view bytes) const {
    if (write(message_descriptor, bytes.data(), bytes.size()) < 0) std::exit(99);
  }
};

[[noreturn]] void hang() {
  for (;;) pause();
}

/// Restores the default action first. With a sanitizer's handler, the signal would become an exit.
[[noreturn]] void segfault() {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
  std::abort();
}

std::set<int> open_descriptors() {
  std::set<int> descriptors;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) std::exit(98);
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') descriptors.insert(std::atoi(entry->d_name));
  }
  descriptors.erase(dirfd(folder));
  closedir(folder);
  return descriptors;
}

void progress_then_answer(const Worker& worker) {
  for (int i = 0; i < 25; ++i) {
    std::this_thread::sleep_for(100ms);
    worker.progress("step " + std::to_string(i));
  }
  worker.answer("25 steps");
}

void chatter_on_stderr(const Worker&) {
  for (;;) {
    std::fputs("still here\n", stderr);
    std::this_thread::sleep_for(50ms);
  }
}

void answer_after_interrupt(const Worker& worker) {
  signal(SIGINT, count_interrupt);
  worker.progress("waiting for Ctrl-C");
  while (interrupts == 0) std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(400ms);  // long enough for another message
  worker.answer("interrupts: " + std::to_string(interrupts));
}

void ignore_signals(const Worker& worker) {
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  worker.progress("ignoring signals");
  hang();
}

/// Leaves a process that is not in the worker's group and holds all its descriptors.
void die_with_orphan(const Worker& worker) {
  const pid_t orphan = fork();
  if (orphan == 0) {
    setsid();
    std::this_thread::sleep_for(60s);
    _exit(0);
  }
  worker.progress(std::to_string(orphan));
  _exit(5);
}

/// Leaves a daemon: a process in its own session whose parent has ended. The daemon has a child of the same kind.
void leave_daemon(const Worker& worker) {
  int pids[2];
  if (pipe(pids) != 0) std::exit(97);
  const pid_t parent = fork();
  if (parent == 0) {
    for (int i = 0; i < 2; ++i) {
      if (fork() != 0) _exit(0);
      setsid();
      const pid_t self = getpid();
      if (write(pids[1], &self, sizeof self) != sizeof self) _exit(1);
    }
    hang();
  }
  waitpid(parent, nullptr, 0);
  pid_t daemon = 0;
  for (int i = 0; i < 2; ++i) {
    if (read(pids[0], &daemon, sizeof daemon) != sizeof daemon) std::exit(96);
  }
  worker.answer(std::to_string(daemon));
}

/// Holds as many bytes of memory as the argument says, in a child process.
void hold_memory(const Worker& worker) {
  if (fork() == 0) {
    std::string bytes(std::stoul(worker.argument), 'm');
    hang();
  }
  worker.progress("holding");
  hang();
}

void tell_limits(const Worker& worker) {
  std::string text;
  for (const auto resource : {RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC}) {
    rlimit limit{};
    getrlimit(resource, &limit);
    text += std::to_string(limit.rlim_max) + " ";
  }
  worker.answer(text);
}

/// Becomes a traced process. If it is killed, its parent cannot reap it before its tracer detaches. In a test, this is
/// the closest to a process that hangs in the kernel.
void become_unreapable(const Worker& worker) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t self = getpid();
  int ready[2];
  if (pipe(ready) != 0) std::exit(97);
  const pid_t tracer = fork();
  if (tracer == 0) {
    setsid();
    const char attached = ptrace(PTRACE_SEIZE, self, nullptr, nullptr) == 0 ? 'y' : 'n';
    if (write(ready[1], &attached, 1) != 1) _exit(1);
    std::this_thread::sleep_for(60s);
    _exit(0);
  }
  char attached = 'n';
  if (read(ready[0], &attached, 1) != 1 || attached != 'y') {
    kill(tracer, SIGKILL);
    waitpid(tracer, nullptr, 0);
    worker.answer("ptrace is not allowed");
    return;
  }
  worker.progress(std::to_string(tracer));
  hang();
}

const std::map<std::string_view, std::function<void(const Worker&)>> kBehaviours{
    {"echo", [](const Worker& worker) { worker.answer(worker.argument); }},
    {"identity",
     [](const Worker& worker) {
       worker.answer(std::to_string(getpid()) + " " + std::to_string(getpgid(0)) + " " + std::to_string(getppid()));
     }},
    {"descriptors",
     [](const Worker& worker) {
       std::string list;
       for (const int descriptor : open_descriptors()) list += std::to_string(descriptor) + " ";
       worker.answer(list);
     }},
    {"large", [](const Worker& worker) { worker.answer(std::string(std::stoul(worker.argument), 'L')); }},
    {"activity",
     [](const Worker& worker) {
       worker.progress("warming up");
       worker.progress("sampling");
       worker.answer("done");
     }},
    {"abort",
     [](const Worker& worker) {
       worker.progress("sampling");
       std::abort();
     }},
    {"segfault", [](const Worker&) { segfault(); }},
    {"exit",
     [](const Worker& worker) {
       worker.progress("sampling");
       std::exit(std::stoi(worker.argument));
     }},
    {"hang",
     [](const Worker& worker) {
       worker.progress(worker.argument);
       hang();
     }},
    {"hang_silently", [](const Worker&) { hang(); }},
    {"half_a_frame",
     [](const Worker& worker) {
       worker.raw_bytes("R\x10");
       hang();
     }},
    {"slow", progress_then_answer},
    {"chatter", chatter_on_stderr},
    {"last_words",
     [](const Worker&) {
       std::puts("first line, on stdout");
       std::fflush(stdout);
       std::fputs((std::string(200'000, 'x') + "\nlast words on stderr\n\n").c_str(), stderr);
       std::abort();
     }},
    {"stdout_words",
     [](const Worker&) {
       std::puts("said on stdout");
       std::exit(4);
     }},
    {"say", [](const Worker& worker) { std::fputs("said on stderr\n", stderr), worker.answer("said"); }},
    {"garbage",
     [](const Worker& worker) {
       worker.raw_bytes("zzz this is not a frame");
       hang();
     }},
    {"huge_length",
     [](const Worker& worker) {
       worker.raw_bytes("R\xff\xff\xff\xff\xff\xff\xff\x7f");
       hang();
     }},
    {"wrong_kind",
     [](const Worker& worker) {
       worker.channel.send(MessageKind::kHello, "again");
       hang();
     }},
    {"answer_then_poisoned",
     [](const Worker& worker) {
       worker.answer("poisoned after " + std::to_string(getpid()));
       worker.channel.send(MessageKind::kPoisoned, "");
       std::exit(0);
     }},
    {"answer_with_poisoned",  // and continues normally
     [](const Worker& worker) {
       worker.raw_bytes(encode_frame(MessageKind::kResult, "poisoned") + encode_frame(MessageKind::kPoisoned, ""));
     }},
    {"poisoned_then_answer",
     [](const Worker& worker) {
       worker.channel.send(MessageKind::kPoisoned, "");
       worker.answer("poisoned before");
       hang();
     }},
    {"answer_then_slow_death",
     [](const Worker& worker) {
       worker.answer("answered");
       std::this_thread::sleep_for(300ms);
       std::abort();
     }},
    {"answer_twice",
     [](const Worker& worker) {
       worker.raw_bytes(encode_frame(MessageKind::kResult, "first") + encode_frame(MessageKind::kResult, "second"));
     }},
    {"close_pipe",
     [](const Worker& worker) {
       close(worker.message_descriptor);
       hang();
     }},
    {"answer_after_interrupt", answer_after_interrupt},
    {"ignore_signals", ignore_signals},
    {"die_with_orphan", die_with_orphan},
    {"unreapable", become_unreapable},
    {"daemon", leave_daemon},
    {"hold", hold_memory},
    {"limits", tell_limits},
};

void serve(WorkerChannel& channel, int message_descriptor) {
  while (const auto request = channel.receive()) {
    const auto colon = request->payload.find(':');
    const std::string what = request->payload.substr(0, colon);
    const std::string argument = colon == std::string::npos ? "" : request->payload.substr(colon + 1);
    kBehaviours.at(what)(Worker{channel, message_descriptor, argument});
  }
}

}  // namespace

int main(int argc, char** argv) {
  int read_descriptor = -1;
  int write_descriptor = -1;
  if (std::sscanf(argv[argc - 1], "--tb_worker=%d,%d", &read_descriptor, &write_descriptor) != 2) return 96;
  const std::string_view mode = argc > 2 ? argv[1] : "";
  if (mode == "--no_hello") {
    std::fputs("no device found\n", stderr);
    return 3;
  }
  if (mode == "--silent") hang();
  WorkerChannel channel{read_descriptor, write_descriptor};
  if (!channel.wait_for_begin()) return 0;
  if (mode == "--refuses") {
    channel.send(MessageKind::kRefused, "--tb_memory_limit=9: the GPU has 8");
    return 2;
  }
  channel.send(MessageKind::kHello, "hello from " + std::to_string(getpid()));
  serve(channel, write_descriptor);
  return 0;
}
