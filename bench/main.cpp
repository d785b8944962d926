#include "bench/families/family.hpp"
#include "bench/session/program.hpp"

int main(int argc, char** argv) {
  return tbench::bench::run_program(
      argc, argv, [](const std::vector<tbench::ModelSize>& sizes) { return tbench::bench::all_families(sizes); });
}
