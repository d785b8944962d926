// Helper of history_test.cpp: `history_writer DB FIRST COUNT` adds the runs of so many nights, and prints the number of
// each once it is in the database.
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
      // Opened anew for each: a kill may hit the opening, the change of mode and the checkpoint at the end too.
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
