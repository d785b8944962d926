// Writes results files for tests. `write_results golden FILE` writes the golden file. `write_results compare FOLDER`
// writes a.json, b.json and failed.json for compare_test.py. Their cases cover every combination of a time and no time
// on the two sides.
#include <fmt/format.h>

#include <exception>
#include <string>

#include "support/sample_results.hpp"
#include "tbench/results/result_file.hpp"

namespace {

using tbench::CaseId;
using tbench::Record;
using tbench::Seconds;
using tbench::Status;
using namespace tbench::results;
using namespace tbench::support;

/// Which repetitions of a case have a time, on each side.
struct Pair {
  const char* name;
  const char* in_a;  // one letter per repetition: t has a time, f failed
  const char* in_b;
};

constexpr Pair kPairs[] = {
    {"time_time", "t", "t"},         {"time_failed", "t", "f"},         {"failed_time", "f", "t"},
    {"failed_failed", "f", "f"},     {"times_times", "ttt", "ttt"},     {"times_faileds", "ttt", "fff"},
    {"faileds_times", "fff", "ttt"}, {"mixed_times", "ftt", "ttt"},     {"times_mixed", "ttt", "tft"},
    {"mixed_mixed", "ftt", "ttf"},   {"times_once_failed", "ttt", "f"}, {"times_time", "ttt", "t"}};

/// Adds repetitions of 10, 11 and 12 ms, multiplied by `factor`.
void add_case(ResultFile& file, const CaseId& id, const std::string& repetitions, double factor) {
  for (std::size_t i = 0; i < repetitions.size(); ++i) {
    const Seconds time{(0.010 + 0.001 * static_cast<double>(i)) * factor};
    Record record = repetitions[i] == 't' ? timed_record(id, time) : failed_record(id, Status::kOom, "out of memory");
    record.repetition_index = static_cast<std::int64_t>(i);
    record.repetitions = static_cast<std::int64_t>(repetitions.size());
    file.records.push_back(record);
  }
}

ResultFile empty_file() {
  ResultFile file = golden_file();
  file.records.clear();
  return file;
}

void write_compared(const std::string& folder) {
  ResultFile a = empty_file();
  ResultFile b = empty_file();
  ResultFile failed = empty_file();
  for (const Pair& pair : kPairs) {
    // The sides are once two files, and once two values of a key in one file.
    add_case(a, CaseId{"Pair", {{"case", pair.name}, {"impl", "eager"}}}, pair.in_a, 1);
    add_case(b, CaseId{"Pair", {{"case", pair.name}, {"impl", "eager"}}}, pair.in_b, 2);
    add_case(a, CaseId{"Pair", {{"case", pair.name}, {"impl", "sdpa"}}}, pair.in_b, 2);
    add_case(failed, CaseId{"Pair", {{"case", pair.name}, {"impl", "eager"}}}, "f", 1);
  }
  add_case(a, CaseId{"Pair", {{"case", "only_in_a"}, {"impl", "eager"}}}, "t", 1);
  write_result_file(folder + "/a.json", a);
  write_result_file(folder + "/b.json", b);
  write_result_file(folder + "/failed.json", failed);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    if (std::string{argv[1]} == "golden") {
      write_result_file(argv[2], golden_file());
    } else {
      write_compared(argv[2]);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
