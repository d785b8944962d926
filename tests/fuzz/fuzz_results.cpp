// Feeds any bytes as a results file. It is read, or refused with a message of one line. Records that were read keep
// every rule of record_rules.hpp, and are written and read again unchanged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "memory_file.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/record_rules.hpp"
#include "tbench/results/result_file.hpp"

namespace {

using namespace tbench;

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
  for (const Record& record : file.records) {
    if (results::broken_rule(record)) std::abort();
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
  const fuzz::MemoryFile file{{reinterpret_cast<const char*>(data), size}};
  read_in_full(file.path());
  read_for_comparison(file.path());
  return 0;
}
