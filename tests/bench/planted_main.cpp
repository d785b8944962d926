// transformer_bench with the planted families in place of its own.
#include "bench/session.hpp"
#include "planted_family.hpp"

int main(int argc, char** argv) {
  return tbench::bench::run_program(argc, argv, [](const std::vector<tbench::ModelSize>&) {
    return std::vector{tbench::bench::planted_family(), tbench::bench::planted_kernel_family(),
                       tbench::bench::planted_fresh_family(), tbench::bench::planted_held_family(),
                       tbench::bench::planted_ceiling_family()};
  });
}
