// Feeds any bytes as the journal of a killed run. The journal is read, except for an incomplete last line, or refused.
// Records that were read keep every rule of record_rules.hpp.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tbench/core/error.hpp"
#include "tbench/results/record_rules.hpp"
#include "tbench/results/result_writer.hpp"

namespace {

/// A journal next to a results file that does not exist; removed at the end.
struct Journal {
  std::string results =
      (std::filesystem::temp_directory_path() / ("tbench_fuzz_" + std::to_string(::getpid()) + ".json")).string();
  std::string path = results + ".journal";

  Journal() = default;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal() {
    std::error_code error;
    std::filesystem::remove(path, error);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Journal kJournal;
  {
    std::ofstream file{kJournal.path, std::ios::binary | std::ios::trunc};
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  try {
    const auto run = tbench::results::load_for_resume(kJournal.results);
    if (!run) return 0;
    for (const tbench::Record& record : run->records) {
      if (tbench::results::broken_rule(record)) std::abort();
    }
  } catch (const tbench::UsageError& error) {
    if (std::string{error.what()}.empty()) std::abort();
  }
  return 0;
}
