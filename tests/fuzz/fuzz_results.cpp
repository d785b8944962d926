// Any bytes as a results file: it is read, or refused with a message on one line; and what was read is written and read
// again as the same.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "memory_file.hpp"
#include "tbench/core/error.hpp"
#include "tbench/report/comparison_input.hpp"
#include "tbench/report/result_file.hpp"

namespace {

using namespace tbench;

void check_message(std::string_view message) {
  if (message.empty()) std::abort();
}

void read_in_full(const std::string& path) {
  report::ResultFile file;
  try {
    file = report::read_result_file(path);
  } catch (const UsageError& error) {
    return check_message(error.what());
  }
  if (report::result_file_from_json(report::result_file_to_json(file)) != file) std::abort();
}

void read_for_comparison(const std::string& path) {
  try {
    const report::ComparedRun run = report::read_compared_run(path);
    for (const report::Observation& observation : run.observations) {
      if (observation.replicate.time && !(observation.replicate.time->value > 0)) std::abort();
    }
  } catch (const UsageError& error) {
    check_message(error.what());
  } catch (const report::NotComparable& error) {
    check_message(error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tbench::fuzz::MemoryFile file{data, size};
  read_in_full(file.path());
  read_for_comparison(file.path());
  return 0;
}
