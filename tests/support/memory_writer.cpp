// Writes the files of an allocation log into a folder, for the test that opens them with PyTorch's own reader.
#include <fmt/format.h>

#include <array>
#include <exception>
#include <string_view>

#include "support/memory_log.hpp"
#include "tbench/profile/profile_files.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  // The count needs more than 32 bits, as for tensors of large models.
  const tbench::support::LoggedSteps logged{5'000'000'000};
  const std::array<std::string_view, 2> phases{"forward", "backward"};
  try {
    tbench::profile::write_memory_files(argv[1], logged.log, logged.steps, phases);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
