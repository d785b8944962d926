// Messages between the supervisor and its worker, over pipes. A frame has one byte for the kind, eight bytes for the
// length (little-endian), and the payload. Only the caller interprets payloads.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tbench/process/descriptor.hpp"

namespace tbench::process {

/// The kinds of messages. kBegin tells the worker that it is needed now. The worker sends kRefused instead of kHello if
/// the user's request makes no sense on this machine.
enum class MessageKind : char {
  kBegin = 'B',
  kHello = 'H',
  kRefused = 'U',
  kProgress = 'P',
  kResult = 'R',
  kRequest = 'Q',
  kPoisoned = 'X'
};

struct Message {
  MessageKind kind{};
  std::string payload;
};

/// Thrown if the other side sent something that is not a message.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The default of the largest payload that is read, in bytes. A case's record is many times smaller.
inline constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 20;

[[nodiscard]] std::string encode_frame(MessageKind kind, std::string_view payload);

/// Assembles messages from the pieces of a byte stream.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::uint64_t max_payload_bytes = kMaxPayloadBytes) : max_payload_bytes_{max_payload_bytes} {}

  void feed(std::string_view bytes) { buffer_ += bytes; }
  /// Returns the next whole message, or nullopt if more bytes are needed.
  /// @throws  ProtocolError  if the bytes are not a frame: for an unknown kind, or a payload that is too long
  [[nodiscard]] std::optional<Message> next();

 private:
  std::uint64_t max_payload_bytes_;
  std::string buffer_;
};

/// The worker's end of the two pipes.
class WorkerChannel {
 public:
  /// Takes over both descriptors (`--tb_worker=R,W`). Programs that the worker executes do not inherit them.
  /// @throws  std::system_error  if one of them is not open
  WorkerChannel(int read_descriptor, int write_descriptor);

  /// Waits until the worker is needed. Before that, it must not use a device. Returns false if the parent has closed
  /// the pipe or is gone.
  /// @throws  ProtocolError  for a message that is not kBegin
  [[nodiscard]] bool wait_for_begin();
  /// Waits for the next request. Returns nullopt if the parent has closed the pipe or is gone.
  /// @throws  ProtocolError
  [[nodiscard]] std::optional<Message> receive();
  /// Sends a message, from any thread.
  /// @throws  std::system_error  if the parent is gone
  void send(MessageKind kind, std::string_view payload);

 private:
  UniqueDescriptor requests_;
  UniqueDescriptor messages_;
  std::mutex sending_;
  FrameDecoder decoder_;
};

}  // namespace tbench::process
