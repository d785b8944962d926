// Helper of kill_test.cpp: `series_writer FILE COUNT fresh|resume` adds the records numbered 0 to COUNT - 1 that are
// not yet in FILE. It prints the name of each record as soon as the record is on the disk.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>

#include "support/sample_results.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/result_writer.hpp"

namespace {

using tbench::Record;
using namespace tbench::results;
using namespace tbench::support;

void write_series(const std::string& path, std::int64_t count, bool resumes) {
  ResultFile start;
  start.environment = tbench::support::gpu_environment();
  if (resumes) start = load_for_resume(path).value_or(start);
  // The writer rewrites the file every few records, so that a kill can also hit a rewrite.
  ResultWriter writer{path, start, std::chrono::milliseconds{2}};
  for (std::int64_t i = 0; i < count; ++i) {
    const Record record = numbered_record(i);
    const bool is_there = std::ranges::any_of(start.records, [&](const Record& r) { return r.id == record.id; });
    if (is_there) continue;
    writer.add(record);
    const std::string line = record.id.name() + "\n";
    if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return;
  }
  writer.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    write_series(argv[1], tbench::parse_integer(argv[2]).value(), std::string{argv[3]} == "resume");
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
