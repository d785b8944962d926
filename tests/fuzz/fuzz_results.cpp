// Any bytes as a results file: it is read, or refused with a message on one line; and what was read is written and read
// again as the same.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tbench/compare/comparison_input.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/result_file.hpp"

namespace {

using namespace tbench;

/// A file in memory, for readers that take a path.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_{::memfd_create("fuzz", 0)} {
    if (descriptor_ < 0) std::abort();
    while (size > 0) {
      const ssize_t written = ::write(descriptor_, data, size);
      if (written <= 0) std::abort();
      data += written;
      size -= static_cast<std::size_t>(written);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void check_message(std::string_view message) {
  if (message.empty()) std::abort();
}

void read_in_full(const std::string& path) {
  results::ResultFile file;
  try {
    file = results::read_result_file(path);
  } catch (const UsageError& error) {
    return check_message(error.what());
  }
  if (results::result_file_from_json(results::result_file_to_json(file)) != file) std::abort();
}

void read_for_comparison(const std::string& path) {
  try {
    const compare::ComparisonSide run = compare::read_side(path);
    for (const results::MeasuredCase& c : run.cases) {
      for (const results::Replicate& replicate : c.replicates) {
        if (replicate.time && !(replicate.time->value > 0)) std::abort();
      }
    }
  } catch (const UsageError& error) {
    check_message(error.what());
  } catch (const compare::NotComparable& error) {
    check_message(error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file{data, size};
  read_in_full(file.path());
  read_for_comparison(file.path());
  return 0;
}
