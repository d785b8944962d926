// Feeds any bytes as an export of Nsight Systems. It is read, can be printed, and its times add up, or it is refused
// with a message of one line.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "profile_checks.hpp"
#include "tbench/core/error.hpp"
#include "tbench/profile/nsys_export.hpp"
#include "tbench/profile/profile_page.hpp"

namespace {

/// A file in memory with a path that SQLite can open; removed at the end.
struct Export {
  std::string path = "/dev/shm/tbench_fuzz_" + std::to_string(::getpid()) + ".sqlite";

  Export() = default;
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;
  ~Export() {
    std::error_code error;
    std::filesystem::remove(path, error);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbench::profile;
  static const Export kExport;
  {
    std::ofstream file{kExport.path, std::ios::binary | std::ios::trunc};
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  try {
    const NsysExport read = read_nsys_export(kExport.path);
    const Profile profile = analyse(read.trace, KernelRules::built_in());
    tbench::fuzz::check(profile);
    static_cast<void>(profile_page(profile, {.steps = 3}, PageFormat::kText, {}, {}, 80));
    static_cast<void>(profile_page(profile, {}, PageFormat::kMarkdown, {}, {}, std::nullopt));
    static_cast<void>(profile_json(profile, 1, "tbench nsys FILE"));
  } catch (const tbench::UsageError& error) {
    if (std::string_view{error.what()}.empty()) std::abort();
  }
  return 0;
}
