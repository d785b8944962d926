// The parent's side of one worker process. It sends requests and receives messages, and neither side ever blocks the
// other. It keeps the end of the worker's stdout and stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/child_process.hpp"
#include "tbench/core/units.hpp"
#include "tbench/process/message_channel.hpp"

namespace tbench::process {

struct WorkerStart {
  std::vector<std::string> command;
  std::string executable{};  // as in ChildProcess
  bool echo_stderr{};        // copy the worker's stdout and stderr to this process's stderr
  std::uint64_t max_message_bytes{kMaxPayloadBytes};
};

class WorkerConnection {
 public:
  struct Event {
    /// `kClosed`: the worker ended or closed its pipe, and all its messages were returned before.
    /// `kSilent`: the silence limit has passed.
    enum class Kind { kMessage, kClosed, kSilent } kind{};
    Message message;
  };

  /// How the worker ended.
  struct Ending {
    ChildEnd end;
    bool was_killed{};  // whether it was killed because it did not end by itself within the grace period
  };

  /// Starts the worker.
  /// @throws  std::system_error  if the worker cannot be started
  explicit WorkerConnection(const WorkerStart& start);

  /// Queues a message, which poll_event() writes. Restarts the count of the worker's silence.
  void send(MessageKind kind, std::string_view payload);
  /// Reads and writes as much as possible without blocking, after waiting at most `wait` until a pipe is ready.
  /// @param silence_limit  how long nothing may arrive in the message pipe (stderr does not count)
  /// @return               nullopt if there is nothing to report yet
  /// @throws               ProtocolError
  [[nodiscard]] std::optional<Event> poll_event(Seconds wait, Seconds silence_limit);
  /// Returns the worker's held_bytes(), updated at most ten times per second.
  [[nodiscard]] std::int64_t memory_bytes();
  void interrupt() const { process_.interrupt(); }

  /// Closes the request pipe, which asks the worker to end, and reads on for up to `grace`. Then kills the worker and
  /// the rest of its process group.
  /// @param kill_limit  how long to wait after SIGKILL before the worker is abandoned
  Ending close(Seconds grace, Seconds kill_limit);

  /// Returns the last 4 KiB of the worker's stdout and stderr, without trailing white space.
  [[nodiscard]] std::string stderr_tail() const;

 private:
  bool pump(Seconds wait);
  void drain();
  void write_requests();
  bool read_messages();
  bool read_errors();
  [[nodiscard]] Seconds silence() const;

  ChildProcess process_;
  bool echo_stderr_;
  FrameDecoder decoder_;
  std::string outgoing_;
  std::size_t outgoing_done_{};  // bytes of `outgoing_` that were written
  std::string stderr_tail_;
  std::int64_t memory_bytes_{};
  std::chrono::steady_clock::time_point memory_counted_{};
  std::chrono::steady_clock::time_point last_life_{std::chrono::steady_clock::now()};
};

}  // namespace tbench::process
