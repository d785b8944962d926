// Helper of history_test.cpp: `history_writer DB FIRST COUNT` adds COUNT nightly runs from number FIRST on. It prints
// the number of each run as soon as the run is in the database.
#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <string>

#include "support/history_samples.hpp"
#include "tbench/core/text.hpp"
#include "tbench/history/history.hpp"

int main(int argc, char** argv) {
  using namespace tbench::history;
  using namespace tbench::support;
  if (argc != 4) return 2;
  try {
    const auto first = static_cast<int>(tbench::parse_integer(argv[2]).value());
    const auto count = static_cast<int>(tbench::parse_integer(argv[3]).value());
    for (int night = first; night < first + count; ++night) {
      // Opens the database for each run, so that a kill can also hit opening, the change of mode and the last
      // checkpoint.
      History history = History::open(argv[1]);
      history.add(numbered_run(night));
      const std::string line = fmt::format("{}\n", night);
      if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return 1;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
