#include "tbench/process/message_channel.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace tbench::process {
namespace {

using namespace std::string_literals;

TEST(FrameTest, IsKindThenLengthLittleEndianThenPayload) {
  EXPECT_EQ(encode_frame(MessageKind::kResult, "ab"), "R\x02\0\0\0\0\0\0\0ab"s);
  // 300 = 0x012c
  EXPECT_EQ(encode_frame(MessageKind::kHello, std::string(300, 'h')), "H\x2c\x01\0\0\0\0\0\0"s + std::string(300, 'h'));
  EXPECT_EQ(encode_frame(MessageKind::kPoisoned, ""), "X\0\0\0\0\0\0\0\0"s);
}

TEST(FrameDecoderTest, PutsMessagesTogetherByteByByte) {
  const std::string payload = "zero \0 and more"s;
  FrameDecoder decoder;
  const std::string stream =
      encode_frame(MessageKind::kProgress, payload) + encode_frame(MessageKind::kRequest, std::string(1000, 'q'));
  std::vector<Message> messages;
  for (const char byte : stream) {
    decoder.feed({&byte, 1});
    while (auto message = decoder.next()) messages.push_back(std::move(*message));
  }
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].kind, MessageKind::kProgress);
  EXPECT_EQ(messages[0].payload, payload);
  EXPECT_EQ(messages[1].kind, MessageKind::kRequest);
  EXPECT_EQ(messages[1].payload, std::string(1000, 'q'));
}

TEST(FrameDecoderTest, GivesSeveralMessagesOfOnePiece) {
  FrameDecoder decoder;
  decoder.feed(encode_frame(MessageKind::kProgress, "1") + encode_frame(MessageKind::kResult, "2") + "P");
  EXPECT_EQ(decoder.next().value().payload, "1");
  EXPECT_EQ(decoder.next().value().payload, "2");
  EXPECT_FALSE(decoder.next().has_value());
}

TEST(FrameDecoderTest, RefusesGarbage) {
  FrameDecoder unknown_kind;
  unknown_kind.feed("z");
  EXPECT_THROW(static_cast<void>(unknown_kind.next()), ProtocolError);

  // One byte over 1 MiB = 2^20 = 0x100000.
  FrameDecoder too_long;
  too_long.feed("R\x01\0\x10\0\0\0\0\0"s);
  EXPECT_THROW(static_cast<void>(too_long.next()), ProtocolError);
  FrameDecoder agreed{kMaxPayloadBytes + 1};
  agreed.feed("R\x01\0\x10\0\0\0\0\0"s);
  EXPECT_FALSE(agreed.next().has_value());

  FrameDecoder just_possible;
  just_possible.feed("R\0\0\x10\0\0\0\0\0"s);
  EXPECT_FALSE(just_possible.next().has_value());
}

class WorkerChannelTest : public ::testing::Test {
 protected:
  /// Duplicates the descriptor and returns its number, as a worker gets it.
  static int number_of(UniqueDescriptor descriptor) { return fcntl(descriptor.get(), F_DUPFD, 0); }

  Pipe requests_ = make_pipe();
  Pipe messages_ = make_pipe();
  int read_number_ = number_of(std::move(requests_.read_end));
  int write_number_ = number_of(std::move(messages_.write_end));
  WorkerChannel channel_{read_number_, write_number_};
};

TEST_F(WorkerChannelTest, ReceivesUntilTheParentCloses) {
  const std::string two = encode_frame(MessageKind::kRequest, "one") + encode_frame(MessageKind::kRequest, "two");
  ASSERT_EQ(write_some(requests_.write_end.get(), two).bytes, two.size());
  requests_.write_end.reset();
  EXPECT_EQ(channel_.receive().value().payload, "one");
  EXPECT_EQ(channel_.receive().value().payload, "two");
  EXPECT_FALSE(channel_.receive().has_value());
}

TEST_F(WorkerChannelTest, SendsFrames) {
  channel_.send(MessageKind::kHello, "here");
  std::string buffer(64, '\0');
  buffer.resize(read_some(messages_.read_end.get(), buffer).bytes);
  EXPECT_EQ(buffer, encode_frame(MessageKind::kHello, "here"));
}

TEST_F(WorkerChannelTest, ThrowsWhenTheParentIsGone) {
  messages_.read_end.reset();
  EXPECT_THROW(channel_.send(MessageKind::kProgress, "to nobody"), std::system_error);
}

TEST_F(WorkerChannelTest, KeepsItsDescriptorsFromOtherPrograms) {
  EXPECT_EQ(fcntl(read_number_, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(fcntl(write_number_, F_GETFD), FD_CLOEXEC);
}

TEST(WorkerChannelStartTest, ThrowsOnDescriptorsThatAreNotOpen) {
  EXPECT_THROW((WorkerChannel{-1, -1}), std::system_error);
}

}  // namespace
}  // namespace tbench::process
