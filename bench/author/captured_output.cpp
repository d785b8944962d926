#include "bench/author/captured_output.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace tbench::bench {

CapturedOutput::CapturedOutput() : file_{::memfd_create("captured_output", MFD_CLOEXEC)} {
  if (file_.get() < 0) throw std::system_error{errno, std::generic_category(), "memfd_create"};
}

std::string CapturedOutput::text() const {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    // Does not move the offset, which the command writes at.
    const ssize_t count = ::pread(file_.get(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace tbench::bench
