// Any bytes as the journal of a killed run: it is read, but for its torn last line, or refused.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tbench/core/error.hpp"
#include "tbench/report/result_writer.hpp"

namespace {

/// Where the journal is expected: beside a results file that is not there.
std::string results_path() {
  static const std::string kPath =
      (std::filesystem::temp_directory_path() / ("tbench_fuzz_" + std::to_string(::getpid()) + ".json")).string();
  return kPath;
}

struct Remove {
  ~Remove() {
    std::error_code error;
    std::filesystem::remove(results_path() + ".journal", error);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Remove kAtTheEnd;
  {
    std::ofstream file{results_path() + ".journal", std::ios::binary | std::ios::trunc};
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  try {
    static_cast<void>(tbench::report::load_for_resume(results_path()));
  } catch (const tbench::UsageError& error) {
    if (std::string{error.what()}.empty()) std::abort();
  }
  return 0;
}
