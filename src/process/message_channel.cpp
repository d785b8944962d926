#include "tbench/process/message_channel.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace tbench::process {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kHeaderBytes = 1 + kLengthBytes;
constexpr std::size_t kReadBytes = std::size_t{64} << 10;  // a pipe holds no more at a time
constexpr unsigned kBitsPerByte = 8;

std::uint64_t decode_length(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = length << kBitsPerByte | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

MessageKind decode_kind(char byte) {
  switch (const auto kind = static_cast<MessageKind>(byte)) {
    case MessageKind::kHello:
    case MessageKind::kRefused:
    case MessageKind::kProgress:
    case MessageKind::kResult:
    case MessageKind::kRequest:
    case MessageKind::kPoisoned:
      return kind;
  }
  throw ProtocolError{fmt::format("unknown message kind 0x{:02x}", static_cast<unsigned char>(byte))};
}

}  // namespace

std::string encode_frame(MessageKind kind, std::string_view payload) {
  std::uint64_t length = payload.size();
  if (length > kMaxPayloadBytes) {
    throw std::length_error{fmt::format("a message of {} bytes; at most {}", length, kMaxPayloadBytes)};
  }
  std::string frame;
  frame.reserve(kHeaderBytes + payload.size());
  frame += static_cast<char>(kind);
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    frame += static_cast<char>(static_cast<unsigned char>(length));
    length >>= kBitsPerByte;
  }
  frame += payload;
  return frame;
}

std::optional<Message> FrameDecoder::next() {
  if (buffer_.empty()) return std::nullopt;
  const MessageKind kind = decode_kind(buffer_.front());
  if (buffer_.size() < kHeaderBytes) return std::nullopt;
  const std::uint64_t length = decode_length(std::string_view{buffer_}.substr(1));
  if (length > kMaxPayloadBytes) {
    throw ProtocolError{fmt::format("a message of {} bytes; at most {}", length, kMaxPayloadBytes)};
  }
  if (buffer_.size() - kHeaderBytes < length) return std::nullopt;
  Message message{kind, buffer_.substr(kHeaderBytes, length)};
  buffer_.erase(0, kHeaderBytes + length);
  return message;
}

WorkerChannel::WorkerChannel(int read_descriptor, int write_descriptor)
    : requests_{read_descriptor}, messages_{write_descriptor} {
  set_close_on_exec(requests_);
  set_close_on_exec(messages_);
}

std::optional<Message> WorkerChannel::receive() {
  std::array<char, kReadBytes> buffer;
  for (;;) {
    if (auto message = decoder_.next()) return message;
    const Transfer read = read_some(requests_.get(), buffer);
    if (read.state == Transfer::State::kEnd) return std::nullopt;
    decoder_.feed({buffer.data(), read.bytes});
  }
}

void WorkerChannel::send(MessageKind kind, std::string_view payload) {
  const std::string frame = encode_frame(kind, payload);
  std::string_view rest = frame;
  while (!rest.empty()) {
    const Transfer written = write_some(messages_.get(), rest);
    if (written.state == Transfer::State::kEnd) {
      throw std::system_error{EPIPE, std::generic_category(), "the supervisor is gone"};
    }
    rest.remove_prefix(written.bytes);
  }
}

}  // namespace tbench::process
