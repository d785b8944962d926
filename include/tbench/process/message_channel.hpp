// Messages between the supervisor and its worker: frames of a kind byte, eight bytes of length (little-endian) and a
// payload, over pipes. What a payload says is the caller's business.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tbench/process/descriptor.hpp"

namespace tbench::process {

/// kBegin: the worker is needed now. kRefused: instead of the hello, what the user asked for that makes no sense on
/// this machine.
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

/// Bytes of the longest payload that is read, unless both sides have agreed on another one: many times a case's record.
inline constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 20;

[[nodiscard]] std::string encode_frame(MessageKind kind, std::string_view payload);

/// Puts messages together from pieces of a byte stream.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::uint64_t max_payload_bytes = kMaxPayloadBytes) : max_payload_bytes_{max_payload_bytes} {}

  void feed(std::string_view bytes) { buffer_ += bytes; }
  /// Returns the next whole message, or nullopt if more bytes are needed.
  /// @throws  ProtocolError  if the bytes are no frame: an unknown kind, or a payload that is too long
  [[nodiscard]] std::optional<Message> next();

 private:
  std::uint64_t max_payload_bytes_;
  std::string buffer_;
};

/// The worker's end of the two pipes.
class WorkerChannel {
 public:
  /// Takes over both descriptors (`--tb_worker=R,W`), and keeps them from programs that the worker executes.
  /// @throws  std::system_error  if one of them is not open
  WorkerChannel(int read_descriptor, int write_descriptor);

  /// Waits until the worker is needed: before that it touches no device. Returns false if the parent has closed
  /// the pipe or is gone.
  /// @throws  ProtocolError  for another message
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
