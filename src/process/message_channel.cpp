// Frames, and both ends of the pipes that carry them: the end of the worker (message_channel.hpp) and the end of its
// parent (worker_connection.hpp).
#include "tbench/process/message_channel.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <system_error>

#include "process/descendants.hpp"
#include "process/worker_connection.hpp"

namespace tbench::process {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kHeaderBytes = 1 + kLengthBytes;
constexpr std::size_t kReadBytes = std::size_t{64} << 10;  // the capacity of a pipe
constexpr unsigned kBitsPerByte = 8;
constexpr std::size_t kStderrTailBytes = std::size_t{4} << 10;
constexpr Seconds kExitPollInterval{0.01};
constexpr Seconds kMemoryInterval{0.1};
// Enough reads to empty two pipes. The limit ends the loop if a process that the worker left behind keeps writing.
constexpr int kDrainReads = 64;

Seconds since(Clock::time_point start) { return {std::chrono::duration<double>(Clock::now() - start).count()}; }

std::uint64_t decode_length(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = length << kBitsPerByte | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

MessageKind decode_kind(char byte) {
  switch (const auto kind = static_cast<MessageKind>(byte)) {
    case MessageKind::kBegin:
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
  if (length > max_payload_bytes_) {
    throw ProtocolError{fmt::format("a message of {} bytes; at most {} are read", length, max_payload_bytes_)};
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

bool WorkerChannel::wait_for_begin() {
  const std::optional<Message> message = receive();
  if (message && message->kind != MessageKind::kBegin) throw ProtocolError{"a request before the begin"};
  return message.has_value();
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
  const std::lock_guard lock{sending_};
  while (!rest.empty()) {
    const Transfer written = write_some(messages_.get(), rest);
    if (written.state == Transfer::State::kEnd) {
      throw std::system_error{EPIPE, std::generic_category(), "the supervisor is gone"};
    }
    rest.remove_prefix(written.bytes);
  }
}

WorkerConnection::WorkerConnection(const WorkerStart& start)
    : process_{start.command, start.executable}, echo_stderr_{start.echo_stderr}, decoder_{start.max_message_bytes} {}

void WorkerConnection::send(MessageKind kind, std::string_view payload) {
  outgoing_.erase(0, outgoing_done_);
  outgoing_done_ = 0;
  outgoing_ += encode_frame(kind, payload);
  last_life_ = Clock::now();
}

std::optional<WorkerConnection::Event> WorkerConnection::poll_event(Seconds wait, Seconds silence_limit) {
  if (auto message = decoder_.next()) return Event{Event::Kind::kMessage, std::move(*message)};
  UniqueDescriptor& messages = process_.streams().messages;
  if (messages) {
    const Seconds left{std::max(0.0, silence_limit.value - silence().value)};
    // A worker that has ended may have left its end of the pipe to one of its processes. Then no end of file comes.
    if (!pump(std::min(wait, left)) && process_.has_ended()) {
      drain();
      messages.reset();
    }
    if (auto message = decoder_.next()) return Event{Event::Kind::kMessage, std::move(*message)};
  }
  if (!messages) return Event{Event::Kind::kClosed, {}};
  if (silence() > silence_limit) return Event{Event::Kind::kSilent, {}};
  return std::nullopt;
}

std::int64_t WorkerConnection::memory_bytes() {
  if (since(memory_counted_) < kMemoryInterval) return memory_bytes_;
  memory_bytes_ = held_bytes(process_.pid());
  memory_counted_ = Clock::now();
  return memory_bytes_;
}

WorkerConnection::Ending WorkerConnection::close(Seconds grace, Seconds kill_limit) {
  process_.streams().requests.reset();
  const auto start = Clock::now();
  while (!process_.has_ended() && since(start) < grace) pump(kExitPollInterval);
  const bool was_killed = !process_.has_ended();
  const ChildEnd end = process_.kill_and_reap(kill_limit);
  drain();
  return {end, was_killed};
}

std::string WorkerConnection::stderr_tail() const {
  const std::size_t last = stderr_tail_.find_last_not_of(" \t\r\n");
  return last == std::string::npos ? std::string{} : stderr_tail_.substr(0, last + 1);
}

/// Waits until a pipe is ready, and moves bytes through all pipes that are.
/// @return  whether anything was read
bool WorkerConnection::pump(Seconds wait) {
  const auto& [requests, messages, errors] = process_.streams();
  const bool has_request = outgoing_done_ < outgoing_.size();
  std::array<pollfd, 3> pipes{pollfd{has_request ? requests.get() : -1, POLLOUT, 0}, pollfd{messages.get(), POLLIN, 0},
                              pollfd{errors.get(), POLLIN, 0}};
  const int ready = poll(pipes.data(), pipes.size(), static_cast<int>(std::ceil(to_milliseconds(wait))));
  if (ready < 0 && errno != EINTR) throw std::system_error{errno, std::generic_category(), "poll"};
  if (ready <= 0) return false;
  if (pipes[0].revents != 0) write_requests();
  const bool has_messages = pipes[1].revents != 0 && read_messages();
  const bool has_errors = pipes[2].revents != 0 && read_errors();
  return has_messages || has_errors;
}

/// Reads the rest of the bytes in the pipes of a worker that has ended.
void WorkerConnection::drain() {
  for (int i = 0; i < kDrainReads && pump({0.0}); ++i) {
  }
}

void WorkerConnection::write_requests() {
  UniqueDescriptor& requests = process_.streams().requests;
  const Transfer written = write_some(requests.get(), std::string_view{outgoing_}.substr(outgoing_done_));
  outgoing_done_ += written.bytes;
  // A worker that does not read any more has ended, or the silence limit will end it.
  if (written.state == Transfer::State::kEnd) requests.reset();
  if (!requests || outgoing_done_ == outgoing_.size()) {
    outgoing_.clear();
    outgoing_done_ = 0;
  }
}

bool WorkerConnection::read_messages() {
  UniqueDescriptor& messages = process_.streams().messages;
  std::array<char, kReadBytes> buffer;
  const Transfer read = read_some(messages.get(), buffer);
  if (read.state == Transfer::State::kEnd) messages.reset();
  if (read.bytes == 0) return false;
  decoder_.feed({buffer.data(), read.bytes});
  last_life_ = Clock::now();
  return true;
}

bool WorkerConnection::read_errors() {
  UniqueDescriptor& errors = process_.streams().errors;
  std::array<char, kReadBytes> buffer;
  const Transfer read = read_some(errors.get(), buffer);
  if (read.state == Transfer::State::kEnd) errors.reset();
  if (read.bytes == 0) return false;
  if (echo_stderr_) static_cast<void>(write_some(STDERR_FILENO, {buffer.data(), read.bytes}));
  stderr_tail_.append(buffer.data(), read.bytes);
  if (stderr_tail_.size() > kStderrTailBytes) stderr_tail_.erase(0, stderr_tail_.size() - kStderrTailBytes);
  return true;
}

Seconds WorkerConnection::silence() const { return since(last_life_); }

}  // namespace tbench::process
