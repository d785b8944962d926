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

/// kRefused: instead of the hello, what the user asked for that makes no sense on this machine.
enum class MessageKind : char {
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

/// The other side sent something that is not a message.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bytes of the longest payload. Far above any result; a length beyond it is garbage.
inline constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 30;

/// @throws  std::length_error  if `payload` is longer than kMaxPayloadBytes
[[nodiscard]] std::string encode_frame(MessageKind kind, std::string_view payload);

/// Puts messages together from pieces of a byte stream.
class FrameDecoder {
 public:
  void feed(std::string_view bytes) { buffer_ += bytes; }
  /// The next whole message, or nothing until more bytes were fed.
  /// @throws  ProtocolError  if the bytes are no frame: an unknown kind or an impossible length
  [[nodiscard]] std::optional<Message> next();

 private:
  std::string buffer_;
};

/// The worker's end of the two pipes.
class WorkerChannel {
 public:
  /// Takes over both descriptors (those of `--tb_worker=R,W`), and keeps them from programs that the worker executes.
  /// @throws  std::system_error  if one of them is not open
  WorkerChannel(int read_descriptor, int write_descriptor);

  /// Waits for the next request. Nothing when the parent has closed the pipe or is gone.
  /// @throws  ProtocolError
  [[nodiscard]] std::optional<Message> receive();
  /// From any thread.
  /// @throws  std::system_error  if the parent is gone; std::length_error as encode_frame
  void send(MessageKind kind, std::string_view payload);

 private:
  UniqueDescriptor requests_;
  UniqueDescriptor messages_;
  std::mutex sending_;
  FrameDecoder decoder_;
};

}  // namespace tbench::process
