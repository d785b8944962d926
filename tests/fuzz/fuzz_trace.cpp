// Feeds any bytes as a trace file. It is read, can be printed, and is written and read again unchanged, or it is
// refused with a message.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "memory_file.hpp"
#include "profile_checks.hpp"
#include "tbench/core/error.hpp"
#include "tbench/profile/profile_page.hpp"
#include "tbench/profile/trace_file.hpp"

namespace {

using namespace tbench::profile;

TraceFile read(std::string_view content) { return read_trace_file(tbench::fuzz::MemoryFile{content}.path()); }

void check_round_trip(const TraceFile& file) {
  const std::string packed = pack_trace(file.trace, file.facts);
  const TraceFile again = read(packed);
  if (again.facts != file.facts || again.trace.operations != file.trace.operations) std::abort();
  if (pack_trace(again.trace, again.facts) != packed) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  TraceFile file;
  try {
    file = read({reinterpret_cast<const char*>(data), size});
    const Profile profile = analyse(file.trace, KernelRules::built_in());
    tbench::fuzz::check(profile);
    static_cast<void>(profile_page(profile, {.steps = file.facts.steps}, PageFormat::kText, {}, {}, 80));
    static_cast<void>(profile_json(profile, file.facts.steps, "tbench profile PATH"));
  } catch (const tbench::UsageError& error) {
    if (std::string_view{error.what()}.empty()) std::abort();
    return 0;
  }
  try {
    check_round_trip(file);
  } catch (const tbench::UsageError& error) {
    if (!std::string_view{error.what()}.ends_with("trace fewer steps")) std::abort();
  }
  return 0;
}
