// Runs cases in a child process, so that a case that crashes, poisons the CUDA context or hangs does not affect others.
// Exchanges messages with the child. Only the caller interprets their payloads.
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
  std::string payload;  // payload of the result
  /// The reason for every kind except kResult: one line that says what happened and what the child was doing, followed
  /// by the last 4 KiB of its stdout and stderr, if there is any.
  std::string reason;
  /// The time to start a child for the request and to end the child before it; zero if a child was already running.
  Seconds start;
};

struct SupervisorOptions {
  /// Command line of a child. The first word is a path. `--tb_worker=R,W` (its descriptors) is appended.
  std::vector<std::string> command;
  /// Path of the program that is executed instead of the command's first word. /proc/self/exe is this program, even if
  /// its file was replaced.
  std::string executable{};
  /// Called with a child's hello before the child is used. Its exceptions leave hello(), request() and ask().
  std::function<void(const std::string& hello)> check_hello{};
  /// How long a child may give no sign of life while it works on a request. Only bytes in its message pipe are a sign
  /// of life; output on stderr is not.
  Seconds timeout{120.0};
  /// The longest wait for a child's hello. Before the hello, the child loads libraries and initialises the device, so a
  /// time-out here is not the fault of a case.
  Seconds start_timeout{120.0};
  Seconds exit_grace{5.0};         // time for a child to end when asked, before it is killed
  Seconds kill_limit{10.0};        // time for a killed child to end, before it is abandoned (the kernel may hold it)
  bool fresh_child_per_request{};  // --tb_isolate=case
  bool echo_stderr{};              // pass the children's stdout and stderr on to this process's stderr
  /// The largest payload of a child's message, in bytes. A longer one is a protocol error.
  std::uint64_t max_message_bytes{kMaxPayloadBytes};
  /// The bytes of memory that a child and the processes it starts may hold while it works on a request; 0 for no limit.
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

  /// Returns the payload of the latest child's kHello message (its environment). Starts a child if there never was one.
  /// @param stop  called at least every 100 ms while a child starts
  /// @throws      UsageError          with the payload of kRefused, if the child sends that instead
  /// @throws      std::runtime_error  with the end of its stderr if a child cannot be started or dies before its hello,
  ///                                  or if `stop` is true first
  [[nodiscard]] const std::string& hello(const std::function<bool()>& stop = [] { return false; });

  /// Sends `payload` to the child as a request and waits for its result, its end, or a time-out. If there was no
  /// result, or if the child has sent kPoisoned, the next request gets a new child.
  ///
  /// A child may answer a request and then die before it reports progress on the next one. The earlier request may have
  /// caused this (a poisoned context, a crash during clean-up), so the later request is given to a new child, once.
  ///
  /// @param on_progress  called with the payload of every kProgress message
  /// @param stop         called at least every 100 ms. When it first returns true, the child gets SIGINT. It is then
  ///                     expected to finish its running sample and answer with a result, or to end. The time-out keeps
  ///                     running.
  /// @throws             as hello(), if no child can be started; whatever on_progress and stop throw (the child is
  ///                     killed)
  [[nodiscard]] Outcome request(std::string_view payload, const std::function<void(std::string_view)>& on_progress,
                                const std::function<bool()>& stop);

  /// Sends a question, which does not count as a request: renew_child() does not end a child that only got questions.
  /// @return  the answer, or nullopt if the child ended instead or `stop` was true
  /// @throws  as request()
  [[nodiscard]] std::optional<std::string> ask(std::string_view question, const std::function<bool()>& stop);

  /// Makes the next request get a child that has answered no request. Ends any other child, as the destructor does.
  void renew_child();

  /// Ends all children, as the destructor does. The next request starts a new one.
  void end_children();

  /// Starts the child that will be needed after renew_child(). It loads its libraries and waits until it is needed.
  /// Does nothing if there is such a child already.
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
  std::unique_ptr<Child> standby_;  // prepared child that waits until it is needed; null if there is none
  Seconds renewal_;                 // time that renew_child() has taken since the last request
};

}  // namespace tbench::process
