// Runs cases in a child process, so that one that crashes, poisons the CUDA context or hangs costs only itself.
// Speaks to the child in messages; what a message says is the caller's business.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/units.hpp"
#include "tbench/process/message_channel.hpp"

namespace tbench::process {

/// How one request ended.
struct Outcome {
  enum class Kind {
    kResult,
    kCrashed,      // the child ended, sent something that is not a message, or held too much memory
    kTimeout,      // no sign of life; the child was killed
    kInterrupted,  // `stop` was true, and the child ended without a result
  } kind{};
  std::string payload;  // of the result
  /// The reason for every kind but kResult: one line that says what happened and what the child was doing, then the
  /// last 4 KiB of its stdout and stderr, if there is any, from the second line on.
  std::string reason;
  /// How long it took to start a child for the request, and to end the one before; zero where one was running.
  Seconds start;
};

struct SupervisorOptions {
  /// Command line of a child, a path first; `--tb_worker=R,W` (its descriptors) is appended.
  std::vector<std::string> command;
  /// Path of what is executed instead of the command's first word: /proc/self/exe is this program, whatever has become
  /// of its file.
  std::string executable{};
  /// Called with a child's hello before the child is used; throws what hello(), request() and ask() then throw.
  std::function<void(const std::string& hello)> check_hello{};
  /// How long a child may give no sign of life while it works on a request. A sign of life is anything in its message
  /// pipe; what it writes to stderr is not.
  Seconds timeout{120.0};
  /// The longest wait for a child's hello: it loads libraries and initialises the device, which no case is to blame
  /// for.
  Seconds start_timeout{120.0};
  Seconds exit_grace{5.0};         // for a child that was asked to end, before it is killed
  Seconds kill_limit{10.0};        // for a child that was killed, before it is left behind (the kernel may hold it)
  bool fresh_child_per_request{};  // --tb_isolate=case
  bool echo_stderr{};              // pass the children's stdout and stderr on to this process's stderr
  /// The largest message of a child. A longer one is no message.
  std::uint64_t max_message_bytes{kMaxPayloadBytes};
  /// Memory that a child and the processes it starts may hold while it works on a request; 0 for no limit.
  std::int64_t max_memory_bytes{};
};

/// Not thread-safe. Children die with the thread that started them.
class Supervisor {
 public:
  /// Starts nothing yet.
  explicit Supervisor(SupervisorOptions options);
  /// Ends the child: closes its request pipe, waits `exit_grace`, then kills it and waits `kill_limit`.
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// The payload of the latest child's kHello message (its environment); starts a child if there never was one.
  /// @param stop  asked at least every 100 ms while a child starts
  /// @throws      UsageError          what a child says in kRefused instead
  /// @throws      std::runtime_error  with the end of its stderr if a child cannot be started or dies before its hello,
  ///                                  or if `stop` is true first
  [[nodiscard]] const std::string& hello(const std::function<bool()>& stop = [] { return false; });

  /// Sends `payload` to the child as a request and waits for its result, its end, or a time-out. The next request after
  /// anything but a result, and after a child has said kPoisoned, gets a new child.
  /// A child that dies without a sign of life of this request, after it has answered another, may have died of the
  /// earlier one (a poisoned context, a crash while cleaning up): the request is then given to a new child, once.
  /// @param on_progress  called with the payload of every kProgress message
  /// @param stop         asked at least every 100 ms; once it is true the child gets SIGINT, once, and is expected to
  ///                     finish its running sample and answer with a result, or to end. The time-out goes on counting.
  /// @throws             as hello(), if no child can be had; whatever on_progress and stop throw (the child is killed)
  [[nodiscard]] Outcome request(std::string_view payload, const std::function<void(std::string_view)>& on_progress,
                                const std::function<bool()>& stop);

  /// Sends a question, which leaves a child as new as it was: renew_child() does not end one that was only asked.
  /// @return  the answer, or nullopt if the child ended instead or `stop` was true
  /// @throws  as request()
  [[nodiscard]] std::optional<std::string> ask(std::string_view question, const std::function<bool()>& stop);

  /// Gives the next request a child that has taken none before. Ends one that has, as the destructor does.
  void renew_child();

  /// Ends all children, as the destructor does. The next request starts a new one.
  void end_children();

  /// Starts the child that renew_child() will need: it loads its libraries, and waits until it is needed. Does nothing
  /// where there is one already.
  void prepare_child();

 private:
  struct Child;
  struct Exchange;
  void begin_with(std::unique_ptr<Child> child);
  bool start(const std::function<bool()>& stop);
  [[nodiscard]] std::unique_ptr<Child> take_standby();
  bool make_ready(Exchange& exchange);
  [[nodiscard]] bool child_is_fit();
  Outcome attempt(Exchange& exchange);
  Outcome answer(Exchange& exchange);
  [[nodiscard]] std::string excess_memory();
  Outcome conclude_closed(const Exchange& exchange);
  std::string finish_child(Seconds grace, std::string happened);
  void stop_child();

  SupervisorOptions options_;
  std::optional<std::string> hello_;
  std::unique_ptr<Child> child_;
  std::unique_ptr<Child> standby_;  // prepared child that waits to be needed; null if there is none
  Seconds renewal_;                 // time that renew_child() has taken since the last request
};

}  // namespace tbench::process
