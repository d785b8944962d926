#include "profile/files/pickle_writer.hpp"

#include <limits>
#include <utility>

namespace tbench::profile {
namespace {

// The opcodes of the format: https://docs.python.org/3/library/pickletools.html.
constexpr char kProtocol = '\x80';
constexpr char kEmptyDict = '}';
constexpr char kEmptyList = ']';
constexpr char kMark = '(';
constexpr char kSetItems = 'u';
constexpr char kAppends = 'e';
constexpr char kUnicode = 'X';
constexpr char kInt32 = 'J';
constexpr char kLong = '\x8a';
constexpr char kPut = 'r';
constexpr char kGet = 'j';
constexpr char kStop = '.';

}  // namespace

PickleWriter::PickleWriter() : bytes_{kProtocol, '\x02'} {}

void PickleWriter::begin_dict() { bytes_ += {kEmptyDict, kMark}; }
void PickleWriter::end_dict() { bytes_ += kSetItems; }
void PickleWriter::begin_list() { bytes_ += {kEmptyList, kMark}; }
void PickleWriter::end_list() { bytes_ += kAppends; }

void PickleWriter::text(std::string_view value) {
  if (const auto known = texts_.find(std::string{value}); known != texts_.end()) return again(known->second);
  bytes_ += kUnicode;
  put32(static_cast<std::uint32_t>(value.size()));
  bytes_ += value;
  texts_.emplace(value, remember());
}

void PickleWriter::number(std::int64_t value) {
  if (value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max()) {
    bytes_ += kInt32;
    return put32(static_cast<std::uint32_t>(value));
  }
  bytes_ += {kLong, '\x08'};
  put32(static_cast<std::uint32_t>(value));
  put32(static_cast<std::uint32_t>(value >> 32));
}

std::uint32_t PickleWriter::remember() {
  bytes_ += kPut;
  put32(remembered_);
  return remembered_++;
}

void PickleWriter::again(std::uint32_t remembered) {
  bytes_ += kGet;
  put32(remembered);
}

std::string PickleWriter::take() && {
  bytes_ += kStop;
  return std::move(bytes_);
}

void PickleWriter::put32(std::uint32_t value) {
  for (int byte = 0; byte < 4; ++byte) bytes_ += static_cast<char>(value >> (8 * byte) & 0xFFU);
}

}  // namespace tbench::profile
